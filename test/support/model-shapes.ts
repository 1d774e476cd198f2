/** How a model's turn looks in each of the APIs that agents speak: as one document, and as the events of a stream. */
import type { Endpoint } from "../../services/egress-gateway/src/models/endpoint.ts";

export type { Endpoint };
export type Json = Readonly<Record<string, unknown>>;

export interface Turn {
  readonly text?: string;
  /** Tools that it calls, with their input as an object, or as a text that need not be JSON. */
  readonly calls?: readonly (readonly [name: string, input: object | string])[];
  readonly refuses?: true;
  /** Which call of its server it answers, from 1; the ids of its tool calls hold it. */
  readonly number?: number;
}

/** What every turn states that it used. */
export const INPUT_TOKENS = 1000;
export const OUTPUT_TOKENS = 20;

interface Shape {
  readonly whole: (turn: Turn) => Json;
  /** The number of events before the first that holds a part of the answer. */
  readonly prelude: number;
  readonly events: (turn: Turn) => readonly Json[];
  /** How it says that a call failed: in the body of a status of 400 and more, or as an event of a stream. */
  readonly failure: (message: string) => Json;
}

const inputText = (input: object | string): string =>
  typeof input === "string" ? input : JSON.stringify(input);

/** A program that keeps the calls of a conversation by their ids needs ids that differ. */
const idOf = (call: number | undefined, index: number): string =>
  call === undefined ? `${index}` : `${call}_${index}`;

export const SHAPES: Readonly<Record<Endpoint, Shape>> = {
  chat: { whole: chatWhole, prelude: 0, events: chatEvents, failure: (message) => ({ error: { message } }) },
  responses: {
    whole: responsesWhole,
    prelude: 1,
    events: responsesEvents,
    failure: (message) => ({ type: "error", code: "server_error", message, param: null }),
  },
  messages: {
    whole: messagesWhole,
    prelude: 1,
    events: messagesEvents,
    failure: (message) => ({ type: "error", error: { type: "overloaded_error", message } }),
  },
  generate: {
    whole: generated,
    prelude: 0,
    events: (turn) => [generated(turn)],
    failure: (message) => ({ error: { code: 503, status: "UNAVAILABLE", message } }),
  },
};

/** The API that a path belongs to; null: none. */
export function endpointOf(url: string): Endpoint | null {
  const path = url.split("?", 1)[0] ?? "";
  if (path.endsWith("/messages")) return "messages";
  if (path.endsWith("/responses")) return "responses";
  if (path.endsWith("/chat/completions")) return "chat";
  return /:(stream)?generateContent$/i.test(path) ? "generate" : null;
}

export function isStreamed(url: string, body: Json): boolean {
  return body["stream"] === true || url.includes(":streamGenerateContent");
}

const CHAT_USAGE = {
  prompt_tokens: INPUT_TOKENS,
  completion_tokens: OUTPUT_TOKENS,
  total_tokens: INPUT_TOKENS + OUTPUT_TOKENS,
};

function chatMessage({ text, calls = [], number }: Turn, isDelta: boolean): Json {
  const tool_calls = calls.map(([name, input], index) => ({
    ...(isDelta ? { index } : {}),
    ...{
      id: `call_${idOf(number, index)}`,
      type: "function",
      function: { name, arguments: inputText(input) },
    },
  }));
  return {
    role: "assistant",
    ...(text === undefined ? {} : { content: text }),
    ...(calls.length === 0 ? {} : { tool_calls }),
  };
}

function chatFinish({ calls = [], refuses }: Turn): string {
  if (refuses === true) return "content_filter";
  return calls.length === 0 ? "stop" : "tool_calls";
}

const CHAT = { id: "chat_1", created: 1, model: "m" };

function chatWhole(turn: Turn): Json {
  const choice = { index: 0, message: chatMessage(turn, false), finish_reason: chatFinish(turn) };
  return { ...CHAT, object: "chat.completion", choices: [choice], usage: CHAT_USAGE };
}

function chatEvents(turn: Turn): Json[] {
  const shared = { ...CHAT, object: "chat.completion.chunk" };
  return [
    { ...shared, choices: [{ index: 0, delta: chatMessage(turn, true), finish_reason: null }] },
    { ...shared, choices: [{ index: 0, delta: {}, finish_reason: chatFinish(turn) }] },
    { ...shared, choices: [], usage: CHAT_USAGE },
  ];
}

const RESPONSES_USAGE = {
  ...{ input_tokens: INPUT_TOKENS, input_tokens_details: { cached_tokens: 0 } },
  ...{ output_tokens: OUTPUT_TOKENS, output_tokens_details: { reasoning_tokens: 0 } },
  total_tokens: INPUT_TOKENS + OUTPUT_TOKENS,
};

function responsesItems({ text, calls = [], refuses, number }: Turn): Json[] {
  const content =
    refuses === true
      ? [{ type: "refusal", refusal: text ?? "" }]
      : [{ type: "output_text", text: text ?? "", annotations: [] }];
  const said =
    text === undefined
      ? []
      : [{ ...{ type: "message", id: "msg_1", role: "assistant", status: "completed" }, content }];
  const tools = calls.map(([name, input], i) => ({
    ...{
      type: "function_call",
      id: `fc_${idOf(number, i)}`,
      call_id: `call_${idOf(number, i)}`,
      name,
      status: "completed",
    },
    arguments: inputText(input),
  }));
  return [...said, ...tools];
}

const RESPONSE = { id: "resp_1", object: "response", created_at: 1, model: "m" };

function responsesWhole(turn: Turn): Json {
  return { ...RESPONSE, status: "completed", output: responsesItems(turn), usage: RESPONSES_USAGE };
}

function responsesEvents(turn: Turn): Json[] {
  const items = responsesItems(turn).flatMap((item, output_index) => [
    { type: "response.output_item.added", output_index, item },
    { type: "response.output_item.done", output_index, item },
  ]);
  return [
    { type: "response.created", response: { ...RESPONSE, status: "in_progress", output: [] } },
    ...items,
    { type: "response.completed", response: responsesWhole(turn) },
  ];
}

function messagesBlocks({ text, calls = [], number }: Turn): Json[] {
  const said = text === undefined ? [] : [{ type: "text", text }];
  return [
    ...said,
    ...calls.map(([name, input], i) => ({ type: "tool_use", id: `toolu_${idOf(number, i)}`, name, input })),
  ];
}

function messagesStop({ calls = [], refuses }: Turn): string {
  if (refuses === true) return "refusal";
  return calls.length === 0 ? "end_turn" : "tool_use";
}

const MESSAGE = { id: "msg_1", type: "message", role: "assistant", model: "m", stop_sequence: null };

function messagesWhole(turn: Turn): Json {
  const usage = { input_tokens: INPUT_TOKENS, output_tokens: OUTPUT_TOKENS };
  return { ...MESSAGE, content: messagesBlocks(turn), stop_reason: messagesStop(turn), usage };
}

function messagesEvents(turn: Turn): Json[] {
  const usage = { input_tokens: INPUT_TOKENS, output_tokens: 1 };
  return [
    { type: "message_start", message: { ...MESSAGE, content: [], stop_reason: null, usage } },
    ...messagesBlocks(turn).flatMap((block, index) => {
      const isText = block["type"] === "text";
      const content_block = isText ? { ...block, text: "" } : { ...block, input: {} };
      const delta = isText
        ? { type: "text_delta", text: block["text"] }
        : { type: "input_json_delta", partial_json: inputText(block["input"] as object | string) };
      return [
        { type: "content_block_start", index, content_block },
        { type: "content_block_delta", index, delta },
        { type: "content_block_stop", index },
      ];
    }),
    {
      ...{ type: "message_delta", delta: { stop_reason: messagesStop(turn), stop_sequence: null } },
      usage: { output_tokens: OUTPUT_TOKENS },
    },
    { type: "message_stop" },
  ];
}

function generated({ text, calls = [], refuses, number }: Turn): Json {
  const parts = [
    ...(text === undefined ? [] : [{ text }]),
    ...calls.map(([name, args], i) => ({ functionCall: { id: `call_${idOf(number, i)}`, name, args } })),
  ];
  return {
    candidates: [
      {
        index: 0,
        content: { role: "model", parts },
        finishReason: refuses === true ? "SAFETY" : "STOP",
      },
    ],
    usageMetadata: {
      ...{ promptTokenCount: INPUT_TOKENS, candidatesTokenCount: OUTPUT_TOKENS },
      totalTokenCount: INPUT_TOKENS + OUTPUT_TOKENS,
    },
  };
}
