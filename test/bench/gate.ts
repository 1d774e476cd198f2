/**
 * Measures what the protections of the clean room add to a verification: following what a check runs, comparing the files after
 * it, tracing the files that it opens, the room of the base. Git, NATS, the sandbox-runner and the engine are real.
 *
 * Interleaved, with the fix of a broken function among 1,000 files, each on a new commit, so that no base is remembered:
 *   once       one clean room, one run of the check
 *   twice      one clean room, two runs, no protection but the names of files
 *   all, twice as the product does it, with two runs as well
 *   product    as the product does it by default; short checks run more often
 */
import { execFileSync } from "node:child_process";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUCKETS, type VerdictBody } from "@antiphon/contracts";
import { openBlobs, openKv, createLogger, sandboxClient, type Blobs } from "@antiphon/runtime";
import { Repositories } from "../../services/director/src/landing/repositories.ts";
import type { CleanRoomPort, RepositoryPort, RoomRequest } from "../../services/director/src/ports.ts";
import { CleanRoom } from "../../services/director/src/verification/clean-room.ts";
import { ONCE } from "../../services/director/src/verification/trials.ts";
import { VerdictEvidence } from "../../services/director/src/verification/verdict-evidence.ts";
import { verify } from "../../services/director/src/verification/verification.ts";
import { openWorld } from "../integration/associate/associate-world.ts";
import { proposedRun } from "../support/proposed-run.ts";
import { makeRepo, type FilesSpec } from "../support/repo.ts";

const FILES = 1_000;
const ROUNDS = 25;
const GOAL_MS = 60;
/** As the runner of the world keeps them. */
const WARM = 2;
const CHECK = "node test/add.test.js";
const BROKEN = "exports.add = (a, b) => a - b;\n";

type Mode = "once" | "twice" | "all, twice" | "product";
const MODES: readonly Mode[] = ["once", "twice", "all, twice", "product"];

/** Null: as many as the product finds right. */
const TRIALS: Readonly<Record<Mode, number | null>> = { once: 1, twice: 2, "all, twice": 2, product: null };

interface Ports {
  readonly repository: RepositoryPort;
  readonly room: CleanRoomPort;
  readonly evidence: VerdictEvidence;
  readonly files: Blobs;
}

export async function run(): Promise<void> {
  const world = await openWorld();
  const repo = makeRepo({ files: sources() });
  try {
    const { bus } = world;
    const trees = openBlobs(bus, BUCKETS.repos);
    const files = openBlobs(bus, BUCKETS.evidenceFiles);
    const signer = { publicKey: Buffer.alloc(32), sign: () => Buffer.alloc(64) };
    const log = createLogger("bench", { level: "silent" });
    const ports: Ports = {
      repository: new Repositories(trees, { roots: null }, signer, log),
      room: new CleanRoom(sandboxClient(bus, { requester: "bench" }), files),
      evidence: new VerdictEvidence(openKv(bus, BUCKETS.evidence), files, "bench"),
      files,
    };
    const times = new Map<Mode, number[]>(MODES.map((mode) => [mode, []]));
    for (let round = -2; round < ROUNDS; round += 1) {
      const order = round % 2 === 0 ? MODES : [...MODES].reverse();
      for (const mode of order) {
        await pooled(world.instance);
        const took = await verification(repo.path, round, mode, ports);
        if (round >= 0) times.get(mode)?.push(took); // The first rounds warm sandboxes and caches.
      }
    }
    print(times);
  } finally {
    await world.close();
  }
}

/** Waits until the runner has its warm sandboxes again and no other: a verification of one run finds them so. */
async function pooled(instance: string): Promise<void> {
  const filter = ["--filter", `label=antiphon.instance=${instance}`];
  for (let quiet = 0; quiet < 5;) {
    const names = execFileSync("docker", ["ps", "--all", "--quiet", ...filter], { encoding: "utf8" });
    quiet = names.trim().split("\n").length === WARM ? quiet + 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
}

/** Milliseconds from a result with a patch to its verdict, which has to be PASS. */
async function verification(path: string, round: number, mode: Mode, ports: Ports): Promise<number> {
  const git = (...args: string[]): string => execFileSync("git", ["-C", path, ...args], { encoding: "utf8" });
  appendFileSync(join(path, "src/module-0/file-1.js"), `// ${round} ${mode}\n`);
  git("commit", "--quiet", "--all", "--message", "another base");
  const commit = git("rev-parse", "HEAD").trim();
  writeFileSync(join(path, "src/add.js"), `${BROKEN.replace("-", "+")}// ${round} ${mode}\n`);
  const patch = execFileSync("git", ["-C", path, "diff", "--binary", "--full-index"]);
  git("checkout", "--quiet", "--", "src/add.js");
  const ref = await ports.files.put(null, patch);
  await ports.repository.exportBase({ name: "app", path }, commit); // The dispatch does that before the attempt.
  const trials = TRIALS[mode];
  const { run: proposed, effect } = proposedRun({
    ...{ runId: `run_${commit.slice(0, 20)}`, path, commit, check: CHECK, patch: ref },
    options: trials === null ? {} : { trials },
  });
  const isPartial = mode === "once" || mode === "twice";
  const begun = performance.now();
  const verdict: VerdictBody = await verify(
    proposed,
    effect,
    isPartial ? partial(ports, mode === "once" ? 1 : 2) : ports,
    new AbortController().signal,
  );
  const took = performance.now() - begun;
  if (verdict.verdict !== "PASS") throw new Error(`${mode}: ${verdict.message}`);
  return took;
}

/** Without protection: no check is followed, the check is a step of its own for each run, and no other room is opened. */
function partial({ repository, room, evidence }: Ports, runs: number): Omit<Ports, "files"> {
  const unfollowed: RepositoryPort["candidate"] = (at, head, patch, rules) =>
    repository.candidate(at, head, patch, { ...rules, checks: [], discovered: false });
  const bare = new Proxy(repository, {
    get(target, name) {
      if (name === "candidate") return unfollowed;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  const plain: CleanRoomPort = {
    check: async (request, signal) => {
      if (request.purpose === "base") return { trials: [request.checks.map(failed)], written: null };
      const checks = Array.from({ length: runs }, () => request.checks).flat();
      const { traced: _traced, ...rest }: RoomRequest = request;
      const outcome = await room.check({ ...rest, checks, trials: ONCE }, signal);
      const [steps = []] = outcome.trials;
      return { ...outcome, trials: Array.from({ length: runs }, (_, i) => [steps[i] ?? failed("")]) };
    },
  };
  return { repository: bare, room: plain, evidence };
}

const failed = (command: string) => ({
  ...{ command, exitCode: 1, timedOut: false, durationMs: 0 },
  ...{ stdout: null, stderr: null, tail: "" },
});

function sources(): FilesSpec {
  const files: Record<string, string> = {
    "package.json": '{"scripts":{"test":"node test/add.test.js"}}\n',
    "src/add.js": BROKEN,
    "test/add.test.js": 'if (require("../src/add.js").add(2, 2) !== 4) process.exit(1);\n',
  };
  for (let i = Object.keys(files).length; i < FILES; i += 1)
    files[`src/module-${i % 40}/file-${i}.js`] = `exports.value${i} = ${i};\n`.repeat(20);
  files["src/module-0/file-1.js"] = "exports.value = 1;\n";
  return files;
}

function print(times: ReadonlyMap<Mode, readonly number[]>): void {
  const at = (mode: Mode, share: number): number => {
    const sorted = [...(times.get(mode) ?? [])].sort((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  };
  const paired = (one: Mode, other: Mode): number => {
    const [a = [], b = []] = [times.get(one), times.get(other)];
    const differences = a.map((time, i) => time - (b[i] ?? 0)).sort((x, y) => x - y);
    return differences[Math.floor(differences.length / 2)] ?? 0;
  };
  console.log(`verification of one task, ${FILES} files, ${ROUNDS} rounds, ms\n`);
  for (const mode of MODES)
    console.log(`${mode.padEnd(12)} p50 ${at(mode, 0.5).toFixed(0)}  p95 ${at(mode, 0.95).toFixed(0)}`);
  console.log(
    `\nsecond run of the check      ${paired("twice", "once").toFixed(0)} (median of the differences of a round)`,
  );
  console.log(
    `protections beyond it        ${paired("all, twice", "twice").toFixed(0)}   goal <= ${GOAL_MS}`,
  );
  console.log(`more runs of a short check   ${paired("product", "all, twice").toFixed(0)}`);
}
