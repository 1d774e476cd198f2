// The agent `model`: asks one model what to do, carries out the tool calls that it wants, and tells it what they gave, until
// the model calls `finish` or a limit is reached. Its tools are exactly those of the task; `finish` is no tool but the form
// of the final result. Each line of its output is one event as JSON: that is the transcript.
//
// It exits with 0 when the checks are to judge the work, also at a limit; with 78 when a person has to decide; and with 1
// when the model refused, gave up or could not be reached.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { jsonSchema, tool } from "ai";
import { newMessages } from "./inbox.mjs";
import { limitReached, limitsOf, shortened } from "./limits.mjs";
import { ModelEnd, openModel, shapeOf } from "./model.mjs";
import { faultIn, finalResult, FINISH } from "./result.mjs";
import { leaveSummary, TOOLS } from "./tools.mjs";

const EXITS = { done: 0, limit: 0, question: 78 };
const NUDGE = "If the task is done, call `finish`. Otherwise go on with it.";
const SHOWN_CHARS = 2000;

async function main(env, root) {
  const { task } = JSON.parse(env.ANTIPHON_TASK ?? "{}");
  if (task === undefined) throw new Error("ANTIPHON_TASK holds no task");
  const limits = limitsOf(env, task.time_budget_s, Date.now());
  const allowed = Object.keys(TOOLS).filter((name) => task.allowed_tools.includes(name));
  say({ event: "start", model: env.MODEL_NAME, shape: shapeOf(env), tools: allowed });
  const loop = new Loop({ allowed, limits, root, ask: openModel(env, limits, say) });
  const end = await loop.run(readFileSync(0, "utf8"));
  if (end.outcome === "question") leaveQuestion(root, end);
  if (end.outcome === "done") await leaveSummary(end.summary, root);
  say({ event: "result", ...end, ...loop.spent });
  if (EXITS[end.outcome] !== undefined) return EXITS[end.outcome];
  process.stderr.write(`${end.outcome}: ${end.summary}\n`);
  return 1;
}

class Loop {
  spent = { steps: 0, tokens: 0 };
  #parts;
  #messages = [];
  #isNudged = false;

  /** @param parts `allowed` names of tools, `limits`, the `root` of the work tree, and `ask`, which calls the model */
  constructor(parts) {
    this.#parts = parts;
  }

  /** @returns the final result: that of `finish`, or what ended the conversation */
  async run(prompt) {
    this.#messages = [{ role: "user", content: prompt }];
    for (;;) {
      const limit = limitReached(this.#parts.limits, this.spent, Date.now());
      const end = limit === null ? await this.#step() : { outcome: "limit", summary: `stopped at ${limit}` };
      // A message that came during the last step keeps the loop going.
      if (end !== null && !(end.outcome === "done" && (await this.#hear()))) return end;
    }
  }

  async #step() {
    const { ask, allowed, limits } = this.#parts;
    await this.#hear();
    const request = { system: systemFor(allowed), messages: this.#messages, tools: offered(allowed) };
    const answer = await ask(request).catch((error) => this.#endedBy(error));
    if (answer.outcome !== undefined) return answer;
    const { text, calls, said, finish, tokens, context } = answer;
    this.spent.steps += 1;
    this.spent.tokens += tokens;
    say({ event: "answer", step: this.spent.steps, tokens, text, calls: calls.map(shownCall), finish });
    if (context > limits.context) this.#messages = shortened(this.#messages);
    if (calls.length === 0) return this.#silent(answer);
    let end = null;
    const results = [];
    for (const call of calls) {
      const { toolCallId, toolName } = call;
      const final = toolName === "finish" ? finalResult(call.input) : null;
      if (final !== null && final.fault === undefined) end = final;
      const value =
        final === null
          ? await this.#used(call)
          : final.fault === undefined
            ? "noted"
            : `error: ${final.fault}`;
      results.push({ type: "tool-result", toolCallId, toolName, output: { type: "text", value } });
    }
    this.#messages = [...this.#messages, ...said, { role: "tool", content: results }];
    return end;
  }

  /** A message of a person is one of the user, between two steps. */
  async #hear() {
    const all = await newMessages();
    for (const content of all) {
      say({ event: "message", text: content });
      this.#messages = [
        ...this.#messages,
        { role: "user", content: `The person for whom you work says: ${content}` },
      ];
    }
    return all.length > 0;
  }

  /** A model that says something and calls nothing is asked once; after that its words are its summary. */
  #silent({ text, said, finish }) {
    this.#messages = [...this.#messages, ...said];
    if (this.#isNudged && finish !== "length") return { outcome: "done", summary: text.trim() };
    this.#isNudged = true;
    this.#messages = [...this.#messages, { role: "user", content: NUDGE }];
    return null;
  }

  /** After the budget or the time is over, the checks judge the work that the tools did until then. */
  #endedBy(error) {
    if (!(error instanceof ModelEnd)) throw error;
    const isLimit = error.why === "budget" || error.why === "time";
    if (isLimit && this.spent.steps > 0) return { outcome: "limit", summary: `stopped: ${error.message}` };
    if (error.why === "refused")
      return { outcome: "refused", summary: `the model refused: ${error.message}` };
    return { outcome: "failed", summary: `the model call failed: ${error.message}` };
  }

  async #used({ toolName: name, input }) {
    const { allowed, limits, root } = this.#parts;
    const leftMs = () => Math.max(1, limits.untilMs - Date.now());
    let output;
    try {
      if (!allowed.includes(name))
        throw new Error(`this task has no tool ${name}, only ${allowed.join(", ")}`);
      const fault = faultIn(TOOLS[name].parameters, input);
      if (fault !== null) throw new Error(fault);
      output = await TOOLS[name].run(input, { root, leftMs });
      say({ event: "tool", name, ok: true, output: output.slice(0, SHOWN_CHARS) });
    } catch (error) {
      output = `error: ${error.message}`;
      say({ event: "tool", name, ok: false, output });
    }
    return output;
  }
}

function offered(allowed) {
  const all = [...allowed.map((name) => [name, TOOLS[name]]), ["finish", FINISH]];
  return Object.fromEntries(
    all.map(([name, { description, parameters }]) => [
      name,
      tool({ description, inputSchema: jsonSchema(parameters) }),
    ]),
  );
}

function systemFor(allowed) {
  const names = [...allowed, "finish"].join(", ");
  return (
    `You change a repository to do one task. Your tools are ${names}; there are no others. Read before you ` +
    "change, keep the change small, and run the task's checks if you can. Then call finish."
  );
}

function leaveQuestion(root, { question, choices }) {
  mkdirSync(`${root}/.antiphon`, { recursive: true });
  writeFileSync(`${root}/.antiphon/question.json`, JSON.stringify({ question, choices }));
}

function shownCall({ toolName, input }) {
  const text = JSON.stringify(input) ?? "";
  return { name: toolName, input: text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}...` : input };
}

function say(event) {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

if (process.argv.includes("--version")) say({ program: "model" });
else process.exitCode = await main(process.env, process.cwd());
