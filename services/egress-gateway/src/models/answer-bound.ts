/** The bound on an answer's length, which every call carries: read from the body, and lowered to what a budget allows. Pure. */
import type { Endpoint } from "./endpoint.ts";
import { refused } from "./unpriced.ts";

type Body = Readonly<Record<string, unknown>>;

const NAMES: Readonly<Record<Endpoint, readonly [string, ...string[]]>> = {
  chat: ["max_completion_tokens", "max_tokens"],
  responses: ["max_output_tokens"],
  messages: ["max_tokens"],
  generate: ["maxOutputTokens"],
};
/** Anthropic accepts no smaller thinking budget. */
const LEAST_THINKING = 1024;

/** The longest answer that the body asks for, at most `max`. Throws ANT_EGRESS_MODEL when it is not a number of tokens. */
export function answerAsked(endpoint: Endpoint, body: Body, max: number): number {
  const place = endpoint === "generate" ? objectAt(body, "generationConfig") : body;
  const given = NAMES[endpoint].flatMap((name) => {
    const value = place[name];
    if (value === undefined || value === null) return [];
    if (typeof value !== "number" || !Number.isInteger(value) || value < 1)
      throw refused("model:bound", `${name} must be a number of tokens`);
    return [value];
  });
  return Math.min(max, given.length === 0 ? max : Math.max(...given));
}

/** The body with this bound in place of its own. */
export function withAnswerBound(endpoint: Endpoint, body: Body, tokens: number): Body {
  if (endpoint === "generate") {
    const config = objectAt(body, "generationConfig");
    const { thinkingConfig } = config;
    const thinking =
      typeof thinkingConfig === "object" && thinkingConfig !== null ? (thinkingConfig as Body) : null;
    const budget = thinking?.["thinkingBudget"];
    const lower =
      typeof budget === "number" && budget > tokens
        ? { thinkingConfig: { ...thinking, thinkingBudget: tokens } }
        : {};
    return { ...body, generationConfig: { ...config, ...lower, maxOutputTokens: tokens } };
  }
  const given = NAMES[endpoint].filter((name) => body[name] !== undefined && body[name] !== null);
  const names = given.length === 0 ? [NAMES[endpoint][0]] : given;
  const bounded = { ...body, ...Object.fromEntries(names.map((name) => [name, tokens])) };
  return endpoint === "messages" ? withThinkingBelow(bounded, tokens) : bounded;
}

/** A thinking budget has to be smaller than the answer. */
function withThinkingBelow(body: Body, tokens: number): Body {
  const thinking = objectAt(body, "thinking");
  const budget = thinking["budget_tokens"];
  if (typeof budget !== "number" || budget < tokens) return body;
  if (tokens > LEAST_THINKING) return { ...body, thinking: { ...thinking, budget_tokens: tokens - 1 } };
  const { thinking: _thinking, context_management: _edits, ...rest } = body;
  return rest;
}

function objectAt(body: Body, key: string): Body {
  const value = body[key];
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Body) : {};
}
