// The OpenCode adapter of RFC 000: `health`, `compile`, `diff`.
//
// A compile is one session of two requests: the work, and then plan and tests in a given form. The work is asked for without
// waiting, and the session is looked at every second, so no long request and no stream can be lost. A server that does not
// answer, or a session in which nothing happens, is started again and told to go on: its session is on disk, so what the
// model said is not asked again.
import { entryOf, faultOf, transcriptOf } from "./conversation.mjs";
import { NoAnswer } from "./server.mjs";

const CALL_MS = 10_000;
/** The first call about the work tree has OpenCode read its settings and load what they name, which a busy machine takes long for. */
const FIRST_CALL_MS = 60_000;
const LOOK_MS = 1000;
/** Calls in a row without an answer after which a server has hung. */
const MISSES = 3;
const STARTS = 4;
/** OpenCode sends a failed model call again without end. */
const MODEL_RETRIES = 6;
const GO_ON = "The work was interrupted. Look at what is done already, and go on with the task.";
const ASK_FORM =
  "Describe what you did: the steps as a graph, and the commands that show that it works. Change nothing more.";

const FORM = {
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
              id: { type: "string", description: "Unique; what the step does, in a few words." },
              kind: { enum: ["compute", "decision", "io", "approval"] },
              deps: { type: "array", items: { type: "string" }, description: "Ids of the steps before." },
            },
            required: ["id", "kind", "deps"],
            additionalProperties: false,
          },
        },
      },
      required: ["nodes"],
      additionalProperties: false,
    },
    tests: { type: "array", items: { type: "string" }, description: "Shell commands." },
  },
  required: ["plan", "tests"],
  additionalProperties: false,
};

export class OpenCodeClient {
  #parts;
  #starts = 0;
  #said = new Set();

  /**
   * @param parts `server`, `kept` for request and answer, `model` (its name), `say` for events, `untilMs` and `quietMs`, and
   *   `resetTo`, which takes commits of the agent back into the work tree
   */
  constructor(parts) {
    this.#parts = parts;
  }

  async health() {
    const { healthy } = await this.#call("GET", "/global/health");
    return { ok: healthy === true };
  }

  /** @throws Error when the model, OpenCode or the time gives up; the request is kept then, and the work tree is as it is */
  async compile(input) {
    const { kept, say } = this.#parts;
    const before = kept.answerTo(input);
    if (before !== null) return before;
    kept.write({ input });
    await this.#start();
    const { id } = await this.#answered(() => this.#call("POST", "/session", { title: "task" }));
    say({ event: "session", id });
    const messages = await this.#worked(id, input.intent.prompt);
    const patch = await this.diff(id);
    const { plan, tests } = await this.#formed(id);
    const output = { plan, patch, tests, transcript: transcriptOf(messages) };
    kept.write({ input, output });
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
      await this.#answered(() => this.#prompt(session, text));
      const messages = await this.#idle(session);
      const fault = messages === null ? null : faultOf(messages);
      if (fault !== null) throw new Error(fault);
      if (messages !== null) return messages;
      await this.#start();
      text = GO_ON;
    }
  }

  /** Null: the server has hung or died, or nothing happened for too long. */
  async #idle(session) {
    const { untilMs, quietMs } = this.#parts;
    let misses = 0;
    let heard = { at: Date.now(), of: "" };
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      if (Date.now() > untilMs) throw new Error("its share of the task's time is over");
      try {
        const status = (await this.#call("GET", "/session/status"))[session];
        const messages = await this.#call("GET", `/session/${session}/message`);
        misses = 0;
        this.#tell(messages);
        if (status === undefined || status.type === "idle") return isOver(messages) ? messages : null;
        if (status.type === "retry" && status.attempt > MODEL_RETRIES) throw new Error(status.message);
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

  /** A model that cannot fill in a form has still done its work. */
  async #formed(session) {
    const { untilMs, model, say } = this.#parts;
    const body = {
      model: { providerID: "metered", modelID: model },
      format: { type: "json_schema", schema: FORM },
      parts: [{ type: "text", text: ASK_FORM }],
    };
    try {
      const deadlineMs = Math.max(1, untilMs - Date.now());
      const { info } = await this.#parts.server.call("POST", `/session/${session}/message`, {
        body,
        deadlineMs,
      });
      const { plan = null, tests = [] } = info.structured ?? {};
      if (plan === null)
        say({ event: "no-plan", why: info.error?.data?.message ?? "the model filled in no form" });
      return { plan, tests };
    } catch (error) {
      say({ event: "no-plan", why: error.message });
      return { plan: null, tests: [] };
    }
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
        throw new Error(`OpenCode's server hung or died ${this.#starts} times`);
      this.#starts += 1;
      say({ event: "server", start: this.#starts });
      try {
        await server.start();
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

/** A server that was started again knows nothing of a turn that it did not end. */
function isOver(messages) {
  const last = messages.at(-1)?.info;
  return (
    last?.role === "assistant" &&
    (last.time?.completed !== undefined || last.error !== undefined) &&
    last.finish !== "tool-calls"
  );
}
