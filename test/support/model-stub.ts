/**
 * A model server on loopback for real agents: it speaks the messages, responses, chat and generate APIs, streamed. It asks
 * for one shell command, then says that it is done. It records what it was sent. What goes wrong before is up to the test.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { endpointOf, isStreamed } from "./model-shapes.ts";
import { makeTrouble, type Trouble } from "./model-trouble.ts";

export interface ModelStub {
  readonly port: number;
  /** Paths and headers of the calls so far. */
  readonly heard: {
    readonly url: string;
    readonly headers: IncomingMessage["headers"];
    readonly body: string;
  }[];
  /** What goes wrong with the next calls, one after the other; `isLasting`: and with all that follow, as with the last. */
  fail(troubles: readonly Trouble[], isLasting?: boolean): void;
  close(): Promise<void>;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * @param command what the model wants to run; or what it wants after a conversation, as it was sent (null: nothing)
 * @param edit its answer to an agent without tools, which edits files by what the model says
 * @param ready what it waits for before it answers
 */
export async function startModelStub(
  command: Command,
  edit = "",
  ready: Promise<void> = Promise.resolve(),
): Promise<ModelStub> {
  const heard: ModelStub["heard"] = [];
  let [troubles, isStuck]: [Trouble[], boolean] = [[], false];
  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      heard.push({ url: request.url ?? "", headers: request.headers, body });
      await ready;
      const { url = "" } = request;
      const trouble = isStuck && troubles.length === 1 ? troubles[0] : troubles.shift();
      const endpoint = endpointOf(url);
      if (trouble !== undefined && endpoint !== null) {
        const isStream = isStreamed(url, JSON.parse(body) as Json);
        return makeTrouble(trouble, { endpoint, isStream, response });
      }
      // A conversation that goes on has several calls, each with an id of its own.
      const call = typeof command === "string" ? 1 : heard.length;
      answer(request.url ?? "", body, response, { command, edit, call });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    heard,
    fail: (next, isLasting = false) => ([troubles, isStuck] = [[...next], isLasting]),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Command = string | ((conversation: string) => string | null);

interface Wanted {
  readonly command: Command;
  readonly edit: string;
  /** Its number, in its id. */
  readonly call: number;
}

/** mini-SWE-agent is told by a command that the work is done. */
const LAST_COMMAND = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT";
/** How aider tells a model to edit. */
const EDITS_BY_TEXT = "*SEARCH/REPLACE";

function answer(url: string, body: string, response: ServerResponse, { command, edit, call }: Wanted): void {
  const asked = (body === "" ? {} : JSON.parse(body)) as Json;
  const path = url.split("?", 1)[0] ?? "";
  // A call without tools is a side job of the agent, such as a title.
  const wanted = typeof command === "string" ? (hasResult(body) ? null : command) : command(body);
  const wants = hasTools(asked, body) ? wanted : null;
  if (path.endsWith("/messages")) return messages(asked, response, wants, `toolu_${call}`);
  const last = body.includes(LAST_COMMAND) ? LAST_COMMAND : null;
  if (path.endsWith("/responses")) return responses(asked, response, wants ?? last, body.includes(IN_INPUT));
  if (path.endsWith("/chat/completions")) {
    const says = body.includes(EDITS_BY_TEXT) && edit !== "" ? edit : "Done.";
    return chat(asked, response, wants ?? last, says);
  }
  if (/:(stream)?generateContent$/i.test(path)) return generate(path, response, wants);
  response.writeHead(404, { "content-type": "application/json" }).end('{"error":{"message":"no such path"}}');
}

/** How some models are given their tools: in an item of the input. Codex then runs commands from a script. */
const IN_INPUT = '"additional_tools"';

function hasTools({ tools }: Json, body: string): boolean {
  return (Array.isArray(tools) && tools.length > 0) || body.includes(IN_INPUT);
}

function hasResult(body: string): boolean {
  return /"(tool_result|function_call_output|custom_tool_call_output|functionResponse)"|"role":"tool"/.test(
    body,
  );
}

function events(response: ServerResponse, list: readonly Json[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of list) {
    const { type } = event;
    response.write(`${typeof type === "string" ? `event: ${type}\n` : ""}data: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}

function isBash({ tools = [] }: Json): boolean {
  return (tools as readonly { readonly name?: string }[]).some(({ name }) => name === "bash");
}

/** The shell's name among the offered tools. */
function shellOf({ tools }: Json): string {
  const names = (tools as readonly { readonly name?: string }[]).map(({ name = "" }) => name);
  return names.find((name) => name.toLowerCase() === "bash") ?? "Bash";
}

function messages(asked: Json, response: ServerResponse, wants: string | null, id: string): void {
  const block =
    wants === null
      ? { type: "text", text: "Done." }
      : {
          type: "tool_use",
          id,
          name: shellOf(asked),
          input: { command: wants, description: "edit" },
        };
  const stop_reason = wants === null ? "end_turn" : "tool_use";
  const whole = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: asked["model"],
    stop_sequence: null,
  };
  const usage = { input_tokens: 1000, output_tokens: 20 };
  if (asked["stream"] !== true) {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ...whole, content: [block], stop_reason, usage }));
    return;
  }
  const empty = wants === null ? { ...block, text: "" } : { ...block, input: {} };
  const delta =
    wants === null
      ? { type: "text_delta", text: "Done." }
      : { type: "input_json_delta", partial_json: JSON.stringify({ command: wants, description: "edit" }) };
  events(response, [
    { type: "message_start", message: { ...whole, content: [], stop_reason: null, usage } },
    { type: "content_block_start", index: 0, content_block: empty },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 20 } },
    { type: "message_stop" },
  ]);
}

function responses(asked: Json, response: ServerResponse, wants: string | null, isScript: boolean): void {
  const script = {
    ...{ type: "custom_tool_call", id: "ctc_1", call_id: "call_1", status: "completed" },
    ...{ name: "exec", namespace: "functions" },
    input: `text(await tools.exec_command(${JSON.stringify({ cmd: wants })}))`,
  };
  const item =
    wants !== null && isScript
      ? script
      : wants === null
        ? {
            ...{ type: "message", id: "msg_1", role: "assistant", status: "completed" },
            content: [{ type: "output_text", text: "Done.", annotations: [] }],
          }
        : {
            ...{
              type: "function_call",
              id: "fc_1",
              call_id: "call_1",
              ...(isBash(asked)
                ? { name: "bash", arguments: JSON.stringify({ command: wants }) }
                : { name: "exec_command", arguments: JSON.stringify({ cmd: wants }) }),
              status: "completed",
            },
          };
  const usage = {
    input_tokens: 1000,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 1020,
  };
  if (asked["stream"] !== true) {
    const whole = {
      id: "resp_1",
      object: "response",
      created_at: 1,
      model: asked["model"],
      status: "completed",
    };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ...whole, output: [item], usage }));
    return;
  }
  events(response, [
    { type: "response.created", response: { id: "resp_1", status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 0, item },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { id: "resp_1", status: "completed", output: [item], usage } },
  ]);
}

function chat(asked: Json, response: ServerResponse, wants: string | null, says: string): void {
  const call = { index: 0, id: "call_1", type: "function", function: { name: "bash", arguments: "" } };
  const given = {
    ...call,
    function: { name: "bash", arguments: JSON.stringify({ command: wants, description: "edit" }) },
  };
  const delta =
    wants === null ? { role: "assistant", content: says } : { role: "assistant", tool_calls: [given] };
  const finish_reason = wants === null ? "stop" : "tool_calls";
  const usage = { prompt_tokens: 1000, completion_tokens: 20, total_tokens: 1020 };
  const shared = { id: "chat_1", created: 1, model: asked["model"] };
  if (asked["stream"] !== true) {
    response.writeHead(200, { "content-type": "application/json" });
    const choices = [{ index: 0, message: delta, finish_reason }];
    response.end(JSON.stringify({ ...shared, object: "chat.completion", choices, usage }));
    return;
  }
  const object = "chat.completion.chunk";
  events(response, [
    { ...shared, object, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...shared, object, choices: [{ index: 0, delta: {}, finish_reason }] },
    { ...shared, object, choices: [], usage },
  ]);
}

function generate(path: string, response: ServerResponse, wants: string | null): void {
  const part =
    wants === null
      ? { text: "Done." }
      : {
          functionCall: {
            id: "call_1",
            name: "run_shell_command",
            args: { command: wants, description: "edit" },
          },
        };
  const event = {
    candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 20, totalTokenCount: 1020 },
  };
  if (path.endsWith(":streamGenerateContent")) return events(response, [event]);
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(event));
}
