/**
 * The requests of real programs: their paths, the names of their fields and the types in them, as each version sent them.
 * Texts are placeholders. A new version of a program adds an entry; the old ones stay.
 */
import type { ModelShape } from "./endpoint.ts";

export interface AgentRequest {
  readonly program: string;
  readonly shape: ModelShape;
  readonly path: string;
  readonly query: string | null;
  readonly body: Readonly<Record<string, unknown>>;
  /** What must not leave. */
  readonly removed: readonly string[];
}

const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const own = (name: string) => ({
  type: "function",
  name,
  description: "text",
  strict: false,
  parameters: schema,
});
const declared = (name: string) => ({ name, description: "text", input_schema: schema });
const spoken = (role: string, text: string) => ({
  type: "message",
  id: "id",
  role,
  content: [{ type: "input_text", text }],
});

const claude = {
  model: "m",
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "text" },
        { type: "text", text: "text", cache_control: { type: "ephemeral" } },
      ],
    },
  ],
  system: [
    { type: "text", text: "text" },
    { type: "text", text: "text", cache_control: { type: "ephemeral" } },
  ],
  tools: [declared("Agent"), declared("Bash"), declared("Edit")],
  metadata: { user_id: "text" },
  max_tokens: 32_000,
  thinking: { type: "enabled", budget_tokens: 31_999 },
  context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
  stream: true,
};

const codex = {
  model: "m",
  stream: true,
  input: [spoken("developer", "text"), spoken("user", "text")],
  tools: [
    own("exec_command"),
    { type: "namespace", name: "multi_agent_v1", description: "text", tools: [own("spawn_agent")] },
  ],
  tool_choice: "auto",
  parallel_tool_calls: true,
  reasoning: { summary: "auto" },
  store: false,
  include: ["reasoning.encrypted_content"],
  prompt_cache_key: "text",
  client_metadata: { thread_id: "text", turn_id: "text" },
};

const gemini = {
  contents: [{ role: "user", parts: [{ text: "text" }, { text: "text" }] }],
  systemInstruction: { role: "user", parts: [{ text: "text" }] },
  tools: [
    {
      functionDeclarations: [
        { name: "read_file", description: "text", parametersJsonSchema: schema },
        { name: "replace", description: "text", parametersJsonSchema: schema },
      ],
    },
  ],
  generationConfig: {
    temperature: 1,
    topP: 0.95,
    topK: 64,
    thinkingConfig: { includeThoughts: true, thinkingBudget: 8192 },
  },
};

const chat = {
  model: "m",
  messages: [
    { role: "system", content: "text" },
    { role: "user", content: [{ type: "text", text: "text" }] },
    {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: "id", type: "function", function: { name: "bash", arguments: '{"url":"https://a.example"}' } },
      ],
    },
    { role: "tool", tool_call_id: "id", content: "text" },
  ],
  tools: [{ type: "function", function: { name: "bash", description: "text", parameters: schema } }],
  tool_choice: "auto",
  max_tokens: 32_000,
  stream: true,
  stream_options: { include_usage: true },
};

const toMessages = { shape: "anthropic", path: "/v1/messages", query: "beta=true" } as const;
const toResponses = { shape: "openai", path: "/v1/responses", query: null } as const;
const toChat = { shape: "openai", path: "/v1/chat/completions", query: null } as const;
const toGemini = {
  shape: "gemini",
  path: "/v1beta/models/m:streamGenerateContent",
  query: "alt=sse",
} as const;

const { tools: _codexTools, ...codexWithoutTools } = codex;

export const AGENT_REQUESTS: readonly AgentRequest[] = [
  { program: "claude-code 2.1.197, first turn", ...toMessages, body: claude, removed: [] },
  {
    program: "claude-code 2.1.197, after a tool call",
    ...toMessages,
    body: {
      ...claude,
      messages: [
        ...claude.messages,
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "text", signature: "text" },
            {
              type: "tool_use",
              id: "id",
              name: "Bash",
              input: { command: "text", url: "https://a.example", type: "file" },
            },
          ],
        },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "id", content: "text", is_error: false }],
        },
      ],
    },
    removed: [],
  },
  {
    program: "claude-code with its search",
    ...toMessages,
    body: {
      ...claude,
      tools: [...claude.tools, { type: "web_search_20250305", name: "web_search", max_uses: 8 }],
    },
    removed: ["tool web_search_20250305"],
  },
  { program: "codex 0.169.0, first turn", ...toResponses, body: codex, removed: [] },
  {
    program: "codex 0.169.0, after a tool call",
    ...toResponses,
    body: {
      ...codex,
      input: [
        ...codex.input,
        { type: "reasoning", summary: [], content: null, encrypted_content: "text" },
        { type: "function_call", name: "exec_command", arguments: "{}", call_id: "id" },
        { type: "function_call_output", call_id: "id", output: "text" },
        { type: "custom_tool_call", call_id: "id", name: "apply_patch", input: "text", status: "completed" },
        { type: "custom_tool_call_output", call_id: "id", output: "text" },
      ],
    },
    removed: [],
  },
  {
    program: "codex 0.169.0 with a model that is given its tools in the input, a search among them",
    ...toResponses,
    body: {
      ...codexWithoutTools,
      input: [
        {
          type: "additional_tools",
          id: "id",
          role: "developer",
          tools: [
            {
              type: "namespace",
              name: "functions",
              description: "text",
              tools: [{ type: "custom", name: "exec", format: { type: "text" } }, { type: "web_search" }],
            },
            { type: "web_search", external_web_access: true },
          ],
        },
        ...codex.input,
        { type: "custom_tool_call", call_id: "id", name: "exec", input: "text", status: "completed" },
        { type: "custom_tool_call_output", call_id: "id", output: "text" },
      ],
    },
    removed: ["tool web_search", "tool web_search"],
  },
  {
    program: "codex with its search and a faster tier",
    ...toResponses,
    body: {
      ...codex,
      service_tier: "priority",
      tools: [
        ...codex.tools,
        { type: "web_search", external_web_access: true },
        { type: "custom", name: "apply_patch" },
      ],
    },
    removed: ["service_tier", "tool web_search"],
  },
  { program: "gemini-cli 0.61.0, first turn", ...toGemini, body: gemini, removed: [] },
  {
    program: "gemini-cli 0.61.0, after a tool call",
    ...toGemini,
    body: {
      ...gemini,
      contents: [
        ...gemini.contents,
        {
          role: "model",
          parts: [
            {
              functionCall: { id: "id", name: "read_file", args: { fileUri: "text" } },
              thoughtSignature: "text",
            },
          ],
        },
        {
          role: "user",
          parts: [{ functionResponse: { id: "id", name: "read_file", response: { output: "text" } } }],
        },
      ],
    },
    removed: [],
  },
  {
    program: "gemini-cli, a search of its own",
    ...toGemini,
    path: "/v1beta/models/m:generateContent",
    query: null,
    body: { ...gemini, tools: [{ googleSearch: {} }] },
    removed: ["tool googleSearch"],
  },
  { program: "a client of the chat API", ...toChat, body: chat, removed: [] },
  {
    program: "a client of the chat API, by way of a router of models",
    ...toChat,
    body: { ...chat, plugins: [{ id: "web" }], provider: { order: ["a"] }, models: ["other"] },
    removed: ["plugins", "provider", "models"],
  },
];
