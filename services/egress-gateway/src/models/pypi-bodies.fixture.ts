/** The requests of programs of PyPI, like those of agent-bodies.fixture.ts. Both send through LiteLLM. */
import type { AgentRequest } from "./agent-bodies.fixture.ts";

const said = (role: string) => ({ role, content: "text" });

/** aider gives its model examples of edits as a conversation, and no tools. */
const aider = {
  messages: [
    ...["system", "user", "assistant", "user", "assistant", "user", "assistant"].map(said),
    ...["user", "assistant", "user", "assistant", "user"].map(said),
  ],
  model: "m",
  stream: true,
  stream_options: { include_usage: true },
  temperature: 0,
};

const spoken = (role: string) => ({
  type: "message",
  role,
  content: [{ type: "input_text", text: "text" }],
});

const mini = {
  model: "m",
  input: [spoken("system"), spoken("user")],
  tools: [
    {
      ...{ name: "bash", type: "function", strict: null, description: "text" },
      parameters: {
        type: "object",
        properties: { command: { type: "string", description: "text" } },
        required: ["command"],
      },
    },
  ],
};

const toChat = { shape: "openai", path: "/v1/chat/completions", query: null } as const;
const toResponses = { shape: "openai", path: "/v1/responses", query: null } as const;

export const PYPI_REQUESTS: readonly AgentRequest[] = [
  { program: "aider 0.86.2, first turn", ...toChat, body: aider, removed: [] },
  {
    program: "aider 0.86.2, after files were added",
    ...toChat,
    body: { ...aider, messages: [...aider.messages, said("assistant"), said("user")] },
    removed: [],
  },
  { program: "mini-swe-agent 2.4.6, first turn", ...toResponses, body: mini, removed: [] },
  {
    program: "mini-swe-agent 2.4.6, after a command",
    ...toResponses,
    body: {
      ...mini,
      input: [
        ...mini.input,
        { type: "function_call", call_id: "id", name: "bash", arguments: "{}" },
        { type: "function_call_output", call_id: "id", output: [{ type: "input_text", text: "text" }] },
      ],
    },
    removed: [],
  },
];
