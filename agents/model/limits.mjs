// The limits of one attempt: steps, tokens and time. The model budget of the run bounds the money, at the egress gateway.
// A variable of the same name (`antiphon run --env MODEL_MAX_STEPS=20`) replaces a default.

const DEFAULTS = {
  /** Answers of the model. */
  MODEL_MAX_STEPS: 100,
  /** Tokens of all calls together, read and written. */
  MODEL_MAX_TOKENS: 4_000_000,
  /** Tokens of one answer. */
  MODEL_MAX_OUTPUT: 16_384,
  /** From this many tokens on, the outputs of old tool calls are left out of the conversation. */
  MODEL_CONTEXT: 120_000,
};

/** Of the task's time: the rest is for its checks. */
const SHARE_OF_TIME = 0.85;

/** @throws Error when a variable is not a whole number above 0 */
export function limitsOf(env, timeBudgetS, startedMs) {
  const [steps, tokens, output, context] = Object.entries(DEFAULTS).map(([name, byDefault]) => {
    const given = env[name] ?? "";
    if (given === "") return byDefault;
    if (!/^[1-9]\d{0,8}$/.test(given))
      throw new Error(`${name} is a whole number above 0, not ${JSON.stringify(given)}`);
    return Number(given);
  });
  return { steps, tokens, output, context, untilMs: startedMs + timeBudgetS * 1000 * SHARE_OF_TIME };
}

/** The limits that are left after earlier attempts have worked for so long. */
export function leftAfter(limits, workedMs) {
  return { ...limits, untilMs: limits.untilMs - workedMs };
}

/** What ends the attempt before its next answer; null: nothing. */
export function limitReached(limits, spent, nowMs) {
  if (spent.steps >= limits.steps) return `its limit of ${limits.steps} steps`;
  if (spent.tokens >= limits.tokens) return `its limit of ${limits.tokens} tokens`;
  return nowMs >= limits.untilMs ? "its share of the task's time" : null;
}

/** Outputs of the newest tool calls that are never left out. */
const KEPT_RESULTS = 8;
const LEFT_OUT = "(left out: this output is old)";

/** The conversation without the outputs of old tool calls. Every call keeps a result, because providers insist on one. */
export function shortened(messages) {
  const withResults = messages.filter(({ role }) => role === "tool");
  const old = new Set(withResults.slice(0, -KEPT_RESULTS));
  return messages.map((message) => {
    if (!old.has(message)) return message;
    const content = message.content.map((part) => ({ ...part, output: { type: "text", value: LEFT_OUT } }));
    return { ...message, content };
  });
}
