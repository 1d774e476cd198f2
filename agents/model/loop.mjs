// The agent `model`: asks one model what to do, carries out the tool calls that it wants, and tells it what they gave, until
// the model calls `finish` or a limit is reached. Its tools are exactly those of the task; `finish` is no tool but the form
// of the final result. Each line of its output is one event as JSON: that is the transcript.
//
// It exits with 0 when the checks are to judge the work, also at a limit; with 78 when a person has to decide; and with 1
// when the model refused, gave up or could not be reached.
//
// After a question it keeps its conversation; with --continue it goes on with that, and its input is the answer.
//
// After each answer and each tool it leaves a checkpoint. Where it dies decides what the next attempt does again:
//   in a call of the model         the call, which the gateway answers from the record if it was answered before
//   in a tool, or before its       that tool, once more at most; if it is cut off a second time, the model is told so
//     checkpoint is stored
//   after the checkpoint           nothing
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { jsonSchema, tool } from "ai";
import { Fenced, openCheckpoints } from "./checkpoint.mjs";
import { newMessages } from "./inbox.mjs";
import { conversation, keepConversation } from "./kept.mjs";
import { leftAfter, limitReached, limitsOf, shortened } from "./limits.mjs";
import { ModelEnd, openModel, senderOf, shapeOf } from "./model.mjs";
import { faultIn, finalResult, FINISH } from "./result.mjs";
import { leaveSummary, TOOLS } from "./tools.mjs";

const EXITS = { done: 0, limit: 0, question: 78 };
const NUDGE = "If the task is done, call `finish`. Otherwise go on with it.";
const SHOWN_CHARS = 2000;
const MOVED =
  "\n(Before this call the machine was lost. This is another one, with the files of the work tree as they were; processes, " +
  "ignored files and files outside the work tree are gone. The call may have been carried out in part before.)";

async function main(env, root) {
  const startedMs = Date.now();
  const { task, messages: told = [] } = JSON.parse(env.ANTIPHON_TASK ?? "{}");
  if (task === undefined) throw new Error("ANTIPHON_TASK holds no task");
  const sender = senderOf(env);
  const checkpoints = await openCheckpoints(env, root, sender, say);
  const isContinued = process.argv.includes("--continue");
  let before = null;
  try {
    if (!isContinued) before = (await checkpoints?.restored()) ?? null;
  } catch (error) {
    return ended({ outcome: "failed", summary: error.message }, { steps: 0, tokens: 0 });
  }
  const limits = leftAfter(limitsOf(env, task.time_budget_s, startedMs), before?.workedMs ?? 0);
  const allowed = Object.keys(TOOLS).filter((name) => task.allowed_tools.includes(name));
  say({ event: "start", model: env.MODEL_NAME, shape: shapeOf(env), tools: allowed });
  const ask = openModel(env, limits, sender, say);
  const loop = new Loop({ allowed, limits, root, ask, checkpoints, startedMs });
  const end = await loop
    .run(
      readFileSync(0, "utf8"),
      told.map(({ text }) => text),
      before,
      isContinued ? conversation(env) : [],
    )
    .catch(fenced);
  if (end.outcome === "question") leaveQuestion(root, end);
  // A command of the model may have left a question, too.
  if (end.outcome === "question" || existsSync(env.ANTIPHON_QUESTION_FILE ?? ""))
    keepConversation(env, loop.messages);
  if (end.outcome === "done") await leaveSummary(end.summary, root);
  return ended(end, loop.spent);
}

/** @returns the exit code */
function ended(end, spent) {
  say({ event: "result", ...end, ...spent });
  if (EXITS[end.outcome] !== undefined) return EXITS[end.outcome];
  process.stderr.write(`${end.outcome}: ${end.summary}\n`);
  return 1;
}

function fenced(error) {
  if (!(error instanceof Fenced)) throw error;
  return { outcome: "failed", summary: error.message };
}

class Loop {
  spent = { steps: 0, tokens: 0 };
  #parts;
  #messages = [];
  #isNudged = false;
  /** The answer whose tools are being carried out: what it said, its calls, and the results so far. */
  #open = null;
  /** Messages of people that the model was told, or will be told next. */
  #heard = [];
  #unread = [];
  /** How often a call was begun again, by its place. */
  #again = {};
  #workedMs = 0;
  #isMoved = false;

  /** @param parts `allowed` names of tools, `limits`, the `root` of the work tree, `ask`, which calls the model, and the `checkpoints` */
  constructor(parts) {
    this.#parts = parts;
  }

  /**
   * @param told what people had said when the attempt began, which the prompt holds
   * @param before the newest checkpoint of an attempt that was lost; null: there is none
   * @param earlier the conversation that it goes on with
   * @returns the final result: that of `finish`, or what ended the conversation
   */
  async run(prompt, told, before, earlier = []) {
    if (before === null) {
      this.#messages = [...earlier, { role: "user", content: prompt }];
      this.#heard = told;
    } else this.#goOn(before, told);
    for (;;) {
      const limit = limitReached(this.#parts.limits, this.spent, Date.now());
      const end = limit === null ? await this.#step() : { outcome: "limit", summary: `stopped at ${limit}` };
      // A message that came during the last step keeps the loop going.
      if (end !== null && !(end.outcome === "done" && (await this.#hear()))) return end;
    }
  }

  #goOn({ messages, open, spent, isNudged, heard, again, workedMs }, told) {
    this.#messages = messages;
    this.#open = open;
    this.spent = spent;
    this.#isNudged = isNudged;
    this.#again = again;
    this.#workedMs = workedMs;
    this.#isMoved = true;
    this.#heard = heard;
    const known = [...heard];
    this.#unread = told.filter((text) => {
      const at = known.indexOf(text);
      if (at !== -1) known.splice(at, 1);
      return at === -1;
    });
    say({ event: "resume", ...spent, call: open === null ? null : open.results.length + 1 });
  }

  get messages() {
    return this.#messages;
  }

  #keep() {
    const { checkpoints, startedMs } = this.#parts;
    return checkpoints?.keep({
      ...{ messages: this.#messages, open: this.#open, spent: this.spent, isNudged: this.#isNudged },
      ...{ heard: this.#heard, again: this.#again, workedMs: this.#workedMs + Date.now() - startedMs },
    });
  }

  async #step() {
    if (this.#open === null) {
      const end = await this.#ask();
      if (this.#open === null) return end;
      await this.#keep();
    }
    const { calls, said, results } = this.#open;
    while (results.length < calls.length) {
      const call = calls[results.length];
      const final = call.toolName === "finish" ? finalResult(call.input) : null;
      const value =
        final === null
          ? await this.#used(call)
          : final.fault === undefined
            ? "noted"
            : `error: ${final.fault}`;
      const { toolCallId, toolName } = call;
      results.push({ type: "tool-result", toolCallId, toolName, output: { type: "text", value } });
      if (final === null && results.length < calls.length) await this.#keep();
    }
    this.#messages = [...this.#messages, ...said, { role: "tool", content: results }];
    this.#open = null;
    const end = calls
      .map(({ toolName, input }) => (toolName === "finish" ? finalResult(input) : { fault: "none" }))
      .findLast(({ fault }) => fault === undefined);
    if (end === undefined) await this.#keep();
    return end ?? null;
  }

  /** The next answer, whose calls are then open. @returns what ends the conversation; null: nothing */
  async #ask() {
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
    if (calls.length === 0) {
      const end = this.#silent(answer);
      if (end === null) await this.#keep();
      return end;
    }
    const plain = calls.map(({ toolCallId, toolName, input }) => ({ toolCallId, toolName, input }));
    this.#open = { calls: plain, said, results: [] };
    return null;
  }

  /** A message of a person is one of the user, between two steps. */
  async #hear() {
    const come = await newMessages();
    const all = [...this.#unread, ...come];
    this.#unread = [];
    this.#heard = [...this.#heard, ...all];
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

  /** @returns what the model is told of the call */
  async #used({ toolName: name, input }) {
    const { allowed, limits, root } = this.#parts;
    const leftMs = () => Math.max(1, limits.untilMs - Date.now());
    const note = this.#isMoved ? MOVED : "";
    let output;
    try {
      if (!allowed.includes(name))
        throw new Error(`this task has no tool ${name}, only ${allowed.join(", ")}`);
      const fault = faultIn(TOOLS[name].parameters, input);
      if (fault !== null) throw new Error(fault);
      await this.#beginAgain();
      output = await TOOLS[name].run(input, { root, leftMs });
      say({ event: "tool", name, ok: true, output: output.slice(0, SHOWN_CHARS) });
    } catch (error) {
      if (error instanceof Fenced) throw error;
      output = `error: ${error.message}`;
      say({ event: "tool", name, ok: false, output });
    }
    this.#isMoved = false;
    return output + note;
  }

  /** The first call after a checkpoint may have been under way when the process died. It is begun again once. */
  async #beginAgain() {
    if (!this.#isMoved) return;
    const place = `${this.spent.steps}.${this.#open.results.length}`;
    if (place in this.#again) throw new Error("this call was cut off twice, and is not carried out again");
    this.#again = { ...this.#again, [place]: 1 };
    await this.#keep();
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
