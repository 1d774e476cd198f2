/**
 * The tools of a model call. A tool that the program runs itself costs only its description. One that the provider runs
 * (a search, an interpreter, a remote server) is charged by use, so it is taken out of the call. Pure.
 */
import type { Endpoint } from "./endpoint.ts";
import { refused } from "./unpriced.ts";

type Body = Readonly<Record<string, unknown>>;

export interface JudgedTools {
  readonly body: Body;
  /** Types of the tools that were taken out. */
  readonly removed: readonly string[];
}

/** Types of tools that the program runs. A tool without a type is a function. */
const OWN: Readonly<Record<Exclude<Endpoint, "generate">, RegExp>> = {
  chat: /^(function|custom)$/,
  responses:
    /^(function|custom|namespace|local_shell|apply_patch|computer|computer_use_preview|tool_search)$/,
  messages: /^(custom|(bash|text_editor|computer|memory)_\d{8}|tool_search_tool_\w{1,64})$/,
};
const OWN_GEMINI = ["functionDeclarations", "function_declarations", "computerUse"];
const CHOICES = ["tool_choice", "toolConfig", "tool_config"];

/** Throws ANT_EGRESS_MODEL when `tools` is no list. */
export function judgedTools(endpoint: Endpoint, given: Body): JudgedTools {
  const inner = withinInput(endpoint, given);
  const outer = listedTools(endpoint, inner.body);
  return { body: outer.body, removed: [...inner.removed, ...outer.removed] };
}

/** Items of the input may bring tools with them (`additional_tools`). */
function withinInput(endpoint: Endpoint, body: Body): JudgedTools {
  const { input } = body;
  if (endpoint !== "responses" || !Array.isArray(input)) return { body, removed: [] };
  const removed: string[] = [];
  const kept = (input as unknown[]).map((item) => {
    const { tools } = (item ?? {}) as { readonly tools?: unknown };
    if (tools === undefined || tools === null) return item;
    if (!Array.isArray(tools)) throw refused("model:tools", "tools must be a list");
    return {
      ...(item as object),
      tools: (tools as unknown[]).flatMap((tool) => keptTool(OWN.responses, tool, removed)),
    };
  });
  return removed.length === 0 ? { body, removed } : { body: { ...body, input: kept }, removed };
}

function listedTools(endpoint: Endpoint, body: Body): JudgedTools {
  const { tools } = body;
  if (tools === undefined || tools === null) return { body, removed: [] };
  if (!Array.isArray(tools)) throw refused("model:tools", "tools must be a list");
  const removed: string[] = [];
  const kept = (tools as unknown[]).flatMap((tool) =>
    endpoint === "generate" ? keptGemini(tool, removed) : keptTool(OWN[endpoint], tool, removed),
  );
  if (removed.length === 0) return { body, removed };
  // A choice may name a tool that is gone.
  const left = Object.fromEntries(
    Object.entries(body).filter(([name, value]) => !(CHOICES.includes(name) && typeof value === "object")),
  );
  if (kept.length > 0) return { body: { ...left, tools: kept }, removed };
  const { tools: _tools, tool_choice: _choice, ...bare } = left;
  return { body: bare, removed };
}

function keptTool(own: RegExp, tool: unknown, removed: string[]): unknown[] {
  if (typeof tool !== "object" || tool === null) throw refused("model:tools", "a tool must be an object");
  const { type, tools } = tool as { type?: unknown; tools?: unknown };
  if (type !== undefined && type !== null && (typeof type !== "string" || !own.test(type))) {
    removed.push(JSON.stringify(type).replaceAll('"', "").slice(0, 64));
    return [];
  }
  if (type !== "namespace" || !Array.isArray(tools)) return [tool];
  return [{ ...tool, tools: (tools as unknown[]).flatMap((inner) => keptTool(own, inner, removed)) }];
}

/** An entry has one key for each kind of tool. */
function keptGemini(tool: unknown, removed: string[]): unknown[] {
  if (typeof tool !== "object" || tool === null) throw refused("model:tools", "a tool must be an object");
  const own = Object.entries(tool).filter(([kind]) => OWN_GEMINI.includes(kind));
  for (const kind of Object.keys(tool)) if (!OWN_GEMINI.includes(kind)) removed.push(kind.slice(0, 64));
  return own.length === 0 ? [] : [Object.fromEntries(own)];
}
