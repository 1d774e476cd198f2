/** An attempt that is carried out over ports that answer as the test says. */
import type { DispatchBody, SandboxOutcome, SandboxRequest } from "@antiphon/contracts";
import { createLogger } from "@antiphon/runtime";
import { carryOut } from "./work.ts";
import type { AttemptPorts } from "../ports.ts";
import { dispatchOf, output } from "../testing/dispatch.fixture.ts";

export const meta = { bootMs: 1, provider: "docker" as const, node: "n", image: "i", containerId: "c" };
export const blob = { bucket: "ANT_EVIDENCE_FILES", name: "b", digest: `sha256-${"A".repeat(43)}`, bytes: 1 };

export type Answer = (request: SandboxRequest, signal: AbortSignal) => Promise<SandboxOutcome>;

/** Every step exits 0, and one file has changed. */
export const allGood: Answer = (request) =>
  Promise.resolve({
    outcome: "completed",
    code: null,
    message: "",
    steps: request.steps.map(({ id }) => ({
      id,
      exitCode: 0,
      timedOut: false,
      durationMs: 1,
      stdout: output(id === "tools" ? "git 2\n" : ""),
      stderr: output(""),
    })),
    changes: { overlay: blob, files: [], deletions: [] },
    meta,
  });

export interface Driven {
  readonly ports: AttemptPorts;
  readonly requests: SandboxRequest[];
  readonly stored: string[];
  readonly said: string[];
  /** The attempts whose objects were stored again. */
  readonly exported: number[];
}

/** Ports that answer as the test says. Time passes only in `sleep`. */
export function driven(...answers: Answer[]): Driven {
  const requests: SandboxRequest[] = [];
  const stored: string[] = [];
  const said: string[] = [];
  const exported: number[] = [];
  let nowMs = 0;
  const ports: AttemptPorts = {
    trees: {
      ensure: () => Promise.resolve(),
      diff: (_base, change) =>
        Promise.resolve({ patch: "the patch\n", files: change.files.map((file) => file.path) }),
      check: () => [],
      apply: () => Promise.resolve({ files: [], deletions: [] }),
    },
    sandbox: {
      run(request, { signal }) {
        requests.push(request);
        const answer = answers.length > 1 ? answers.shift() : answers[0];
        return (answer ?? allGood)(request, signal);
      },
    },
    overlays: {
      pack: () => Promise.resolve(blob),
      unpack: (overlay) =>
        Promise.resolve(
          overlay === null ? [] : [{ path: "hello.txt", mode: "100644", content: Buffer.from("hello\n") }],
        ),
    },
    evidence: {
      store: (files) => {
        stored.push(...files.map((file) => file.path));
        return Promise.resolve(files.map(({ path }) => ({ path, blob })));
      },
      publish: () => Promise.resolve({ key: "k", digest: blob.digest }),
      bundleOf: () => Promise.resolve(null),
      text: () => Promise.reject(new Error("there is no bundle")),
      diffOf: () => Promise.resolve(null),
    },
    recordings: { find: () => Promise.resolve(null) },
    compiled: { find: () => Promise.resolve(null), keep: () => Promise.resolve() },
    exportAgain: ({ epoch }) => Promise.resolve(void exported.push(epoch)),
    progress: (text) => void said.push(text),
    clock: {
      now: () => nowMs,
      sleep: (ms) => {
        nowMs += ms;
        return Promise.resolve();
      },
    },
    log: createLogger("test", { level: "silent" }),
    newJobId: () => `job_${requests.length + 1}`,
    patienceMs: 10_000,
    tools: new Map(),
  };
  return { ports, requests, stored, said, exported };
}

export const go = (
  world: Driven,
  dispatch: Partial<DispatchBody> = {},
  stop = new AbortController(),
  giveUp = stop,
) =>
  carryOut({ runId: "run_1", epoch: 1, dispatch: dispatchOf(dispatch), associate: "as_1" }, world.ports, {
    stop: stop.signal,
    giveUp: giveUp.signal,
  });
