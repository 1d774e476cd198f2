// The OpenCode adapter of RFC 000: `health`, `compile`, `diff`.
//
// A compile is one session of two requests: the work, and then plan and tests in a given form. The work is asked for without
// waiting, and the session is looked at every second, so no long request and no stream can be lost. A server that does not
// answer, that has grown too large, or in whose session nothing happens, is started again and told to go on: its session is on
// disk, so what the model said is not asked again. So is a session whose work ended with a question for a person.
import { entryOf, faultOf, isOver, partsOf, runsTool, transcriptOf } from "./conversation.mjs";
import { formFor, formIn } from "./form.mjs";
import { NoAnswer } from "./server.mjs";

const CALL_MS = 10_000;
/** The first call about the work tree has OpenCode read its settings and load what they name, which a busy machine takes long for. */
const FIRST_CALL_MS = 60_000;
const LOOK_MS = 1000;
/** Calls in a row without an answer after which a server has hung. */
const MISSES = 3;
const STARTS = 4;
/** From a prompt to its first message. */
const BEGIN_MS = 30_000;
/** OpenCode sends a failed model call again without end. */
const MODEL_RETRIES = 6;
const GO_ON = "The work was interrupted. Look at what is done already, and go on with the task.";

export class OpenCodeClient {
  #parts;
  #starts = 0;
  #said = new Set();
  #saidAtStart = 0;

  /**
   * @param parts `server`, `kept` for request and answer, `model` (its name), `say` for events, `untilMs`, `quietMs` and
   *   `mostMib`, `resetTo`, which takes commits of the agent back into the work tree, `hasAsked`: it has left a question, and
   *   `isPlanning`: the task wants a plan and no change
   */
  constructor(parts) {
    this.#parts = parts;
  }

  async health() {
    const { healthy } = await this.#call("GET", "/global/health");
    return { ok: healthy === true };
  }

  /**
   * @returns the answer; null: its work ended with a question for a person
   * @throws Error when the model, OpenCode or the time gives up; the request is kept then, and the work tree is as it is
   */
  async compile(input) {
    const { kept, say } = this.#parts;
    const before = kept.answerTo(input);
    if (before !== null) return before;
    kept.write({ input });
    await this.#start();
    const { id } = await this.#answered(() => this.#call("POST", "/session", { title: "task" }));
    kept.write({ input, session: id });
    say({ event: "session", id });
    return this.#compiled(input, id, input.intent.prompt);
  }

  /** The same, in the session of a compile that ended with a question. */
  async goOn(answer) {
    const { input, session } = this.#parts.kept.underWay();
    await this.#start();
    for (const part of partsOf(await this.#messages(session))) this.#said.add(part.id);
    this.#saidAtStart = this.#said.size;
    return this.#compiled(input, session, answer);
  }

  async #compiled(input, session, prompt) {
    const messages = await this.#worked(session, prompt);
    if (this.#parts.hasAsked()) return null;
    const patch = await this.diff(session);
    const { plan, tests } = await this.#formed(session);
    const output = { plan, patch, tests, transcript: transcriptOf(messages) };
    this.#parts.kept.write({ input, session, output });
    return output;
  }

  /** The change of the session as a Patch.v0: that of the work tree, as it holds one session. */
  async diff(_sessionId) {
    await this.#parts.resetTo();
    const files = await this.#answered(() => this.#call("GET", "/vcs/diff?mode=git"));
    return {
      files: files
        .filter(({ patch }) => patch !== "")
        .map(({ file, patch }) => ({ path: file, diff: patch })),
    };
  }

  /** @returns the messages of the session, once the model has ended its turn */
  async #worked(session, prompt) {
    let text = prompt;
    for (;;) {
      const before = (await this.#messages(session)).at(-1)?.info.id;
      await this.#answered(() => this.#prompt(session, text));
      const messages = await this.#idle(session, before);
      const fault = messages === null ? null : faultOf(messages);
      if (fault !== null) throw new Error(fault);
      if (messages !== null) return messages;
      await this.#start();
      text = GO_ON;
    }
  }

  /**
   * Null: the server has hung, died or grown too large, or nothing happened for too long.
   * @param before the message before the prompt: while it is the last one, the turn has not begun
   */
  async #idle(session, before) {
    const { untilMs, quietMs } = this.#parts;
    const startMs = Date.now();
    let misses = 0;
    let heard = { at: startMs, of: "" };
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      if (Date.now() > untilMs) throw new Error("its share of the task's time is over");
      try {
        const status = (await this.#call("GET", "/session/status"))[session];
        const messages = await this.#call("GET", `/session/${session}/message`);
        misses = 0;
        this.#tell(messages);
        const isIdle = status === undefined || status.type === "idle";
        // The prompt itself is stored first, and the status was asked for before that.
        const hasBegun = messages.at(-1)?.info.id !== before && messages.at(-1)?.info.role === "assistant";
        if (isIdle && hasBegun) return isOver(messages) ? messages : null;
        if (isIdle && Date.now() - startMs > BEGIN_MS) return null;
        if (status?.type === "retry" && status.attempt > MODEL_RETRIES) throw new Error(status.message);
        if (this.#isTooLarge(messages)) return null;
        const of = JSON.stringify(messages.at(-1));
        if (of !== heard.of) heard = { at: Date.now(), of };
        if (Date.now() - heard.at > quietMs) return null;
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        misses += 1;
        if (misses >= MISSES) return null;
      }
    }
  }

  /**
   * A server above its bound is ended when no tool runs, which would be cut off, and above twice its bound at once. Where it has
   * done something since its start, so that it gets on, that start is not counted among those of a server that hangs or dies. Where
   * it has not, it is as large from the beginning, and another start does not help.
   */
  #isTooLarge(messages) {
    const { server, mostMib, say } = this.#parts;
    const mib = Math.round(server.memory());
    const getsOn = this.#said.size > this.#saidAtStart;
    if (mib <= mostMib || ((runsTool(messages) || !getsOn) && mib <= 2 * mostMib)) return false;
    say({ event: "server-too-large", mib });
    if (getsOn) this.#starts -= 1;
    return true;
  }

  /** A model that cannot fill in a form has still done its work. */
  async #formed(session) {
    const { untilMs, model, isPlanning, say } = this.#parts;
    try {
      const deadlineMs = Math.max(1, untilMs - Date.now());
      const form = formFor(model, isPlanning);
      const answer = await this.#call("POST", `/session/${session}/message`, form, deadlineMs);
      this.#tell([answer]);
      const { plan, tests, why } = formIn(answer);
      if (why !== undefined) say({ event: "no-plan", why });
      return { plan, tests };
    } catch (error) {
      say({ event: "no-plan", why: error.message });
      return { plan: null, tests: [] };
    }
  }

  #messages(session) {
    return this.#answered(() => this.#call("GET", `/session/${session}/message`));
  }

  #prompt(session, text) {
    const model = { providerID: "metered", modelID: this.#parts.model };
    return this.#call("POST", `/session/${session}/prompt_async`, { model, parts: [{ type: "text", text }] });
  }

  /** The answer, from a server that is started again for it if need be. */
  async #answered(ask) {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        await this.#start();
      }
    }
  }

  async #start() {
    const { server, say, untilMs } = this.#parts;
    for (;;) {
      if (this.#starts >= STARTS || Date.now() > untilMs)
        throw new Error(`OpenCode's server hung, died or grew too large ${this.#starts} times`);
      this.#starts += 1;
      say({ event: "server", start: this.#starts });
      try {
        await server.start();
        this.#saidAtStart = this.#said.size;
        await this.#call("GET", "/session/status", undefined, FIRST_CALL_MS);
        if ((await this.health()).ok) return;
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        say({ event: "server-failed", why: error.message });
      }
    }
  }

  #call(method, path, body, deadlineMs = CALL_MS) {
    return this.#parts.server.call(method, path, { body, deadlineMs });
  }

  /** Each part once, as soon as it is over. */
  #tell(messages) {
    for (const { info, parts } of messages)
      for (const part of parts) {
        if (this.#said.has(part.id)) continue;
        const [entry] = info.role === "assistant" ? entryOf(info.role, part) : [];
        if (entry === undefined) continue;
        this.#said.add(part.id);
        this.#parts.say({ event: entry.kind, ...entry });
      }
  }
}
