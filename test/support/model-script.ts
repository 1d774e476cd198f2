/** A model server on loopback that gives the answers of a script, one for each call, streamed in the shape that was asked for. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

interface Turn {
  readonly text?: string;
  /** Tools that it calls, with their input as an object, or as a text that need not be JSON. */
  readonly calls?: readonly (readonly [name: string, input: object | string])[];
  readonly refuses?: true;
}
/** What goes wrong instead of an answer: a status; a stream that ends early, is no stream, never ends, or says nothing. */
type Trouble = 400 | 402 | 429 | 500 | "cut" | "reset" | "garbage" | "endless" | "empty" | "silent";
export type Line = Turn | Trouble;

export interface ModelScript {
  readonly port: number;
  /** The bodies of the calls so far. */
  readonly heard: readonly Readonly<Record<string, unknown>>[];
  close(): Promise<void>;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * The last line is repeated. A function makes each line of what the model was sent.
 * @param before what happens between a call, counted from 1, and its answer
 */
export async function startModelScript(
  lines: readonly Line[] | ((body: Json) => Line),
  before: (call: number) => void = () => undefined,
): Promise<ModelScript> {
  const heard: Json[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const asked = JSON.parse(body) as Json;
      heard.push(asked);
      before(heard.length);
      const line =
        typeof lines === "function" ? lines(asked) : lines[Math.min(heard.length, lines.length) - 1];
      if (line !== undefined) say(line, heard.length, request.url?.endsWith("/messages") === true, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    heard,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const CODES: Readonly<Record<number, string>> = { 402: "ANT_EGRESS_BUDGET" };

/** @param call which one it is; the ids of its tool calls hold it */
function say(line: Line, call: number, isMessages: boolean, response: ServerResponse): void {
  if (typeof line === "number") {
    response.writeHead(line, { "content-type": "application/json", "retry-after": "0" });
    response.end(JSON.stringify({ code: CODES[line], error: { message: `answered ${line}` } }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const shape = (turn: Turn): Json[] => (isMessages ? messages : chat)(turn, call);
  const write = (event: Json): boolean =>
    response.write(
      `${typeof event["type"] === "string" ? `event: ${event["type"]}\n` : ""}data: ${JSON.stringify(event)}\n\n`,
    );
  if (line === "silent") response.flushHeaders();
  else if (line === "garbage") response.end('data: {"choices": [{"del\n\ndata: <html>\n\n');
  else if (line === "cut" || line === "reset") {
    write(shape({ text: "I will" })[isMessages ? 2 : 0] ?? {});
    if (line === "cut") response.end();
    else setImmediate(() => response.destroy());
  } else if (line === "endless") {
    const piece = shape({ text: "and ".repeat(4096) });
    const [start, delta] = isMessages ? [piece.slice(0, 2), piece[2]] : [[], piece[0]];
    for (const event of start) write(event);
    const more = (): void => {
      while (!response.destroyed && write(delta ?? {}));
    };
    response.on("drain", more);
    more();
  } else {
    for (const event of shape(line === "empty" ? {} : line)) write(event);
    response.end();
  }
}

const inputText = (input: object | string): string =>
  typeof input === "string" ? input : JSON.stringify(input);

function chat({ text: said, calls = [], refuses }: Turn, call: number): Json[] {
  const tool_calls = calls.map(([name, input], index) => ({
    ...{ index, id: `call_${call}_${index}`, type: "function" },
    function: { name, arguments: inputText(input) },
  }));
  const delta = {
    role: "assistant",
    ...(said === undefined ? {} : { content: said }),
    ...(calls.length === 0 ? {} : { tool_calls }),
  };
  const finish_reason = refuses === true ? "content_filter" : calls.length === 0 ? "stop" : "tool_calls";
  const shared = { id: "chat_1", created: 1, model: "m", object: "chat.completion.chunk" };
  return [
    { ...shared, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...shared, choices: [{ index: 0, delta: {}, finish_reason }] },
    { ...shared, choices: [], usage: { prompt_tokens: 1000, completion_tokens: 20, total_tokens: 1020 } },
  ];
}

function messages({ text: said, calls = [], refuses }: Turn, call: number): Json[] {
  const usage = { input_tokens: 1000, output_tokens: 20 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], usage };
  const texts =
    said === undefined
      ? []
      : [{ block: { type: "text", text: "" }, delta: { type: "text_delta", text: said } }];
  const tools = calls.map(([name, input], i) => ({
    block: { type: "tool_use", id: `toolu_${call}_${i}`, name, input: {} },
    delta: { type: "input_json_delta", partial_json: inputText(input) },
  }));
  const stop_reason = refuses === true ? "refusal" : calls.length === 0 ? "end_turn" : "tool_use";
  return [
    { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } },
    ...[...texts, ...tools].flatMap(({ block, delta }, index) => [
      { type: "content_block_start", index, content_block: block },
      { type: "content_block_delta", index, delta },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 20 } },
    { type: "message_stop" },
  ];
}
