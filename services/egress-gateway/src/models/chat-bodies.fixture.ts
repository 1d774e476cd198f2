/**
 * The requests of programs that speak the chat API, and of our own loop over both APIs, like those of agent-bodies.fixture.ts:
 * as each version sent them to a model server over the gateway, with placeholders for texts.
 */
import type { AgentRequest } from "./agent-bodies.fixture.ts";

const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const tool = (name: string, more: object = {}) => ({
  type: "function",
  function: { name, description: "text", parameters, ...more },
});
const called = (content: string | null) => ({
  role: "assistant",
  content,
  tool_calls: [{ id: "id", type: "function", function: { name: "bash", arguments: "{}" } }],
});
const answered = { role: "tool", tool_call_id: "id", content: "text" };
const system = { role: "system", content: "text" };
const said = { role: "user", content: "text" };

const pi = {
  model: "m",
  messages: [system, { role: "user", content: [{ type: "text", text: "text" }] }],
  stream: true,
  prompt_cache_key: "text",
  stream_options: { include_usage: true },
  store: false,
  max_completion_tokens: 16_384,
  tools: [tool("read", { strict: false }), tool("bash", { strict: false })],
};

const title = {
  model: "m",
  max_tokens: 16_384,
  messages: [system, said],
  stream: true,
  stream_options: { include_usage: true },
};

const opencode = { ...title, tools: [tool("apply_patch"), tool("bash")], tool_choice: "auto" };

/** The server's form is a tool with the plan and the tests, and a call of a tool is required then. */
const server = { ...opencode, tools: [...opencode.tools, tool("task"), tool("todowrite")] };
const worked = [...server.messages, called(""), answered];
const formed = {
  ...server,
  messages: [...worked, { role: "assistant", content: "text" }, said],
  tools: [
    ...server.tools,
    tool("StructuredOutput", {
      parameters: {
        type: "object",
        properties: {
          plan: {
            type: "object",
            properties: {
              nodes: {
                type: "array",
                items: {
                  type: "object",
                  properties: {
                    kind: { enum: ["compute", "io"] },
                    deps: { type: "array", items: { type: "string" } },
                  },
                  required: ["kind", "deps"],
                  additionalProperties: false,
                },
              },
            },
            required: ["nodes"],
            additionalProperties: false,
          },
          tests: { type: "array", items: { type: "string" }, description: "text" },
        },
        required: ["plan", "tests"],
        additionalProperties: false,
      },
    }),
  ],
  tool_choice: "required",
};

const loop = { ...title, tools: [tool("read_file"), tool("bash")], tool_choice: "auto" };

const cached = { type: "text", text: "text", cache_control: { type: "ephemeral" } };
const loopOverMessages = {
  model: "m",
  max_tokens: 16_384,
  system: [cached],
  messages: [{ role: "user", content: [cached] }],
  tools: [{ name: "read_file", description: "text", input_schema: parameters, eager_input_streaming: true }],
  tool_choice: { type: "auto" },
  stream: true,
};

const toChat = { shape: "openai", path: "/v1/chat/completions", query: null } as const;
const toMessages = { shape: "anthropic", path: "/v1/messages", query: null } as const;

export const CHAT_REQUESTS: readonly AgentRequest[] = [
  { program: "pi 0.74.2, first turn", ...toChat, body: pi, removed: [] },
  {
    program: "pi 0.74.2, after a tool call",
    ...toChat,
    body: { ...pi, messages: [...pi.messages, called(null), answered] },
    removed: [],
  },
  { program: "opencode 1.18.33, the title of a session", ...toChat, body: title, removed: [] },
  { program: "opencode 1.18.33, first turn", ...toChat, body: opencode, removed: [] },
  {
    program: "opencode 1.18.33, after a tool call",
    ...toChat,
    body: { ...opencode, messages: [...opencode.messages, called("text"), answered] },
    removed: [],
  },
  { program: "the server of opencode 1.18.33, first turn", ...toChat, body: server, removed: [] },
  {
    program: "the server of opencode 1.18.33, after a tool call",
    ...toChat,
    body: { ...server, messages: worked },
    removed: [],
  },
  { program: "the server of opencode 1.18.33, the form at the end", ...toChat, body: formed, removed: [] },
  { program: "the own loop, first turn", ...toChat, body: loop, removed: [] },
  {
    program: "the own loop, after a tool call and an answer in words",
    ...toChat,
    body: {
      ...loop,
      messages: [...loop.messages, called("text"), answered, { role: "assistant", content: "text" }, said],
    },
    removed: [],
  },
  { program: "the own loop over the messages API", ...toMessages, body: loopOverMessages, removed: [] },
  {
    program: "the own loop over the messages API, after a tool call",
    ...toMessages,
    body: {
      ...loopOverMessages,
      messages: [
        { role: "user", content: [{ type: "text", text: "text" }] },
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "id", name: "read_file", input: { path: "a" } }],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "id", content: "text" }] },
        { role: "assistant", content: [{ type: "text", text: "text" }] },
        { role: "user", content: [cached] },
      ],
    },
    removed: [],
  },
];
