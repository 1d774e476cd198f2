/** What no real supervisor does on demand: a line that is slow, or broken, at one moment (supervisor-conversation.ts). */
import { afterEach, describe, expect, it, vi } from "vitest";
import { encodeFrame } from "./frames.ts";
import type { SupervisorKind } from "./step-script.ts";
import { SandboxDied, type Command } from "../ports.ts";
import { SupervisedSandbox } from "./supervised-sandbox.ts";
import type { LineListener, SupervisorLine } from "./supervisor-line.ts";

const CANCELED = { kind: "canceled", reason: "enough" } as const;

/** A line moved by hand. */
function handMoved() {
  let listener: LineListener | null = null;
  let vanish: (status: number) => void = () => undefined;
  const seen = { paused: false, said: "", calls: [] as string[] };
  /** While it is set, what is written is on its way until that resolves. */
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

/** What nobody had a handler for while `work` went on. */
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

/** All that was ready to happen has happened. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a sandbox that ends while a question to it is on its way", () => {
  const pack = [{ name: "perl", content: Buffer.from("program") }];
  const questions: [string, SupervisorKind, (sandbox: SupervisedSandbox) => Promise<void>, string[]][] = [
    ["what is remembered", "perl", (sandbox) => sandbox.remember(new Map()), []],
    ["a file's name", "sh", (sandbox) => sandbox.promote(pack), []],
    ["a file", "sh", (sandbox) => sandbox.promote(pack), ["F"]],
    ["the change of supervisors", "sh", (sandbox) => sandbox.promote(pack), ["F", "P"]],
  ];

  it.each(questions)("B6: tells who asked, and nobody else: %s", async (_, kind, ask, answered) => {
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
      await turn(); // here the runner would have died of it
      arrive();
      await told;
    });
    expect(unhandled).toEqual([]);
  });

  it("B6: and also when it is the supervisor that refuses, before it was heard out", async () => {
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

describe("output that nobody took", () => {
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
  /** Takes what it hears when it is told to. */
  function slow() {
    const takes: (() => void)[] = [];
    const onOutput = (): Promise<void> => new Promise((resolve) => takes.push(resolve));
    return { onOutput, take: () => takes.splice(0).forEach((one) => one()) };
  }

  it("B7: when its command ended does not hold up the next", async () => {
    const { sandbox, seen, say } = await greeted();
    const first = sandbox.run(command({ onOutput: slow().onOutput }));
    say(output, exit); // one piece: what is read is heard, also on a line that pauses
    expect((await first).exitCode).toBe(0);
    expect(seen.paused).toBe(false);
  });

  it("B5, B7: when its command was killed does not hold up the next", async () => {
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

  it("B3, B7: and that is taken at last does not let the next command's run on", async () => {
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

describe("a container that cannot be ended", () => {
  afterEach(() => vi.useRealTimers());
  const past = () => vi.advanceTimersByTimeAsync(10_000);

  it("B8: loses its line as soon as it could not be killed, and is gone when its supervisor ended it", async () => {
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
  ])("B4, B8: is let go of, without its line, when its kill %s and its removal fails", async (_, kill) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { sandbox, line, seen } = await greeted();
    line.kill = kill;
    const told = expect(sandbox.destroy(CANCELED)).rejects.toThrow("no answer");
    await past();
    await told;
    await sandbox.letGo;
    expect(seen.calls.indexOf("hangUp")).toBe(0); // before the removal, which may take its time to fail
    expect(seen.calls.at(-1)).toBe("remove");
  });
});
