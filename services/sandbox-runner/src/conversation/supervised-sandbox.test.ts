/** Tests what a real supervisor does not do on demand: a line that is slow or broken at one moment. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { encodeFrame } from "./frames.ts";
import type { SupervisorKind } from "./step-script.ts";
import { SandboxDied, type Command } from "../ports.ts";
import { SupervisedSandbox } from "./supervised-sandbox.ts";
import type { LineListener, SupervisorLine } from "./supervisor-line.ts";

const CANCELED = { kind: "canceled", reason: "enough" } as const;

/** A line whose every event the test triggers. */
function handMoved() {
  let listener: LineListener | null = null;
  let vanish: (status: number) => void = () => undefined;
  const seen = { paused: false, said: "", calls: [] as string[] };
  /** While `until` is set, a write is pending until it resolves. */
  const held: { until: Promise<void> | null } = { until: null };
  const line: SupervisorLine = {
    id: "by-hand",
    gone: new Promise((resolve) => (vanish = resolve)),
    listen: (given) => (listener = given),
    write: async (bytes) => {
      seen.said += bytes.toString("latin1");
      await held.until;
    },
    pause: () => (seen.paused = true),
    resume: () => (seen.paused = false),
    kill: () => {
      vanish(137);
      return Promise.resolve();
    },
    remove: () => {
      seen.calls.push("remove");
      return Promise.reject(new Error("no answer"));
    },
    rename: () => Promise.resolve(),
    hangUp: () => void seen.calls.push("hangUp"),
  };
  const say = (...frames: readonly Buffer[]): void => listener?.stdout(Buffer.concat(frames));
  return { line, seen, held, say, vanish };
}

async function greeted(kind: SupervisorKind = "perl") {
  const hand = handMoved();
  const sandbox = new SupervisedSandbox(hand.line, "image", 0);
  const greeting = sandbox.greet();
  hand.say(encodeFrame("h", `${kind} sealed=${kind === "perl" ? 1 : 0} landlock=0`));
  await greeting;
  return { ...hand, sandbox };
}

/** The rejections that no handler took while `work` ran. */
async function unhandledDuring(work: () => Promise<void>): Promise<unknown[]> {
  const unhandled: unknown[] = [];
  const hear = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", hear);
  try {
    await work();
    await turn();
  } finally {
    process.off("unhandledRejection", hear);
  }
  return unhandled;
}

/** Lets everything that is ready to run, run. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a sandbox that ends while a request to it is being sent", () => {
  const pack = [{ name: "perl", content: Buffer.from("program") }];
  const questions: [string, SupervisorKind, (sandbox: SupervisedSandbox) => Promise<void>, string[]][] = [
    ["a request to remember", "perl", (sandbox) => sandbox.remember(new Map()), []],
    ["a file's name", "sh", (sandbox) => sandbox.promote(pack), []],
    ["a file", "sh", (sandbox) => sandbox.promote(pack), ["F"]],
    ["the change of supervisors", "sh", (sandbox) => sandbox.promote(pack), ["F", "P"]],
  ];

  it.each(questions)(
    "rejects the pending request and leaves no unhandled rejection: %s",
    async (_, kind, ask, answered) => {
      const { sandbox, held, say } = await greeted(kind);
      let arrive = (): void => undefined;
      const unhandled = await unhandledDuring(async () => {
        if (answered.length === 0) held.until = new Promise((resolve) => (arrive = resolve));
        const asked = ask(sandbox);
        const told = expect(asked).rejects.toMatchObject({ death: CANCELED });
        for (const [at] of answered.entries()) {
          await turn();
          if (at === answered.length - 1) held.until = new Promise((resolve) => (arrive = resolve));
          say(encodeFrame("p", "perl"));
        }
        await turn();
        await sandbox.destroy(CANCELED);
        await turn(); // an unhandled rejection would end the runner here
        arrive();
        await told;
      });
      expect(unhandled).toEqual([]);
    },
  );

  it("does the same when the supervisor refuses before the request was sent completely", async () => {
    const { sandbox, held, say } = await greeted("sh");
    let arrive = (): void => undefined;
    held.until = new Promise((resolve) => (arrive = resolve));
    const unhandled = await unhandledDuring(async () => {
      const told = expect(sandbox.promote(pack)).rejects.toBeInstanceOf(SandboxDied);
      say(encodeFrame("f", "no room in /tmp"));
      await turn();
      arrive();
      await told;
    });
    expect(unhandled).toEqual([]);
  });
});

describe("output that its listener has not taken", () => {
  const output = encodeFrame("o", "much");
  const exit = encodeFrame("x", "0 0 0 0 1000 100");
  const command = (changes: Partial<Command>): Command => ({
    argv: ["true"],
    cwd: "/workspace",
    env: {},
    stdin: null,
    timeoutMs: 5_000,
    timeoutEnds: "command",
    keepBytes: 100,
    maxOutputBytes: 1000,
    ...changes,
  });
  /** A listener that takes its output only when `take` is called. */
  function slow() {
    const takes: (() => void)[] = [];
    const onOutput = (): Promise<void> => new Promise((resolve) => takes.push(resolve));
    return { onOutput, take: () => takes.splice(0).forEach((one) => one()) };
  }

  it("sandbox-runner/S10: is kept once, and a question looks at the kept output", async () => {
    const { sandbox, say } = await greeted();
    const seen: string[] = [];
    const onQuestion: Command["onQuestion"] = (text, soFar) => {
      const { stdout, stderr } = soFar() ?? { stdout: null, stderr: null };
      seen.push(`${text} ${stdout?.tail} ${stderr?.tail} ${stdout?.produced}`);
    };
    const first = sandbox.run(command({ onQuestion, keepBytes: 4 }));
    say(encodeFrame("o", "before"), encodeFrame("e", "no"), encodeFrame("a", "Which?"));
    say(encodeFrame("o", "after"), encodeFrame("a", "And which?"), exit);
    expect((await first).stdout).toMatchObject({ produced: 11, truncated: true });
    const note = (missing: number): string => `\n[... ${missing} bytes not kept ...]\n`;
    expect(seen).toEqual([`Which? be${note(2)}re no 6`, `And which? be${note(7)}er no 11`]);
  });

  it("does not block the next command after its own command ended", async () => {
    const { sandbox, seen, say } = await greeted();
    const first = sandbox.run(command({ onOutput: slow().onOutput }));
    say(output, exit); // one piece: what was read is delivered even when the line pauses
    expect((await first).exitCode).toBe(0);
    expect(seen.paused).toBe(false);
  });

  it("does not block the next command after its own command was killed", async () => {
    const { sandbox, seen, say } = await greeted();
    const stop = new AbortController();
    const first = sandbox.run(command({ onOutput: slow().onOutput, signal: stop.signal }));
    say(output);
    expect(seen.paused).toBe(true);
    stop.abort();
    expect(seen.paused).toBe(false);
    say(output, encodeFrame("x", "0 9 0 0 1000 100"));
    expect((await first).signal).toBe(9);
    const second = slow();
    const next = sandbox.run(command({ onOutput: second.onOutput }));
    say(output);
    expect(seen.paused).toBe(true);
    second.take();
    await turn();
    expect(seen.paused).toBe(false);
    say(exit);
    await next;
  });

  it("does not resume the line for the next command when it is taken late", async () => {
    const { sandbox, seen, say } = await greeted();
    const [first, second] = [slow(), slow()];
    const before = sandbox.run(command({ onOutput: first.onOutput }));
    say(output, exit);
    await before;
    const next = sandbox.run(command({ onOutput: second.onOutput }));
    say(output);
    first.take();
    await turn();
    expect(seen.paused).toBe(true);
    second.take();
    await turn();
    expect(seen.paused).toBe(false);
    say(exit);
    await next;
  });
});

describe("a second command while one runs", () => {
  it("is refused, and its abort does not kill the first", async () => {
    const { sandbox, seen, say } = await greeted();
    const command = { argv: ["true"], cwd: "/", env: {}, stdin: null, keepBytes: 64, maxOutputBytes: 64 };
    const first = sandbox.run({ ...command, timeoutMs: 1_000 });
    const second = sandbox.run({ ...command, timeoutMs: 1_000, signal: AbortSignal.abort() });
    await expect(second).rejects.toMatchObject({ death: { message: "busy" } });
    expect(seen.said).not.toContain(encodeFrame("K").toString("latin1"));
    say(encodeFrame("x", "0 0 0 0 1000 100"));
    expect((await first).exitCode).toBe(0);
  });
});

describe("a container that cannot be killed", () => {
  afterEach(() => vi.useRealTimers());
  const past = () => vi.advanceTimersByTimeAsync(10_000);

  it("loses its line as soon as the kill fails, and is gone when its supervisor has ended it", async () => {
    const { sandbox, line, seen, vanish } = await greeted();
    line.kill = () => Promise.reject(new Error("500"));
    const destroyed = sandbox.destroy(CANCELED);
    await turn();
    expect(seen.calls).toEqual(["hangUp"]);
    vanish(0);
    await destroyed;
    await sandbox.letGo;
    expect(seen.calls).not.toContain("remove");
  });

  it.each([
    ["does not answer", () => new Promise<void>(() => undefined)],
    ["fails", () => Promise.reject(new Error("500"))],
  ])("is left to the reaper, without its line, when its kill %s and its removal fails", async (_, kill) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { sandbox, line, seen } = await greeted();
    line.kill = kill;
    const told = expect(sandbox.destroy(CANCELED)).rejects.toThrow("no answer");
    await past();
    await told;
    await sandbox.letGo;
    expect(seen.calls.indexOf("hangUp")).toBe(0); // before the removal, which may fail late
    expect(seen.calls.at(-1)).toBe("remove");
  });
});
