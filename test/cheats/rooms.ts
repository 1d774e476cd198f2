/**
 * Carries out changes of real repositories with the Director's own verification, and with checks that really run: git, the
 * policy, the rooms and the verdict are those of a Director, and the base runs before the change is known. The rooms are directories of this machine, not sandboxes: the
 * changes are our own.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { digestOf, type BlobRef, type CheckOutcome, type VerdictBody } from "@antiphon/contracts";
import { createLogger, type Blobs } from "@antiphon/runtime";
import { Repositories } from "../../services/director/src/repositories/repositories.ts";
import type { CleanRoomPort, RoomRequest } from "../../services/director/src/ports.ts";
import { readTestReport } from "../../services/director/src/verification/reports/test-report.ts";
import { baseAhead } from "../../services/director/src/verification/base-ahead.ts";
import { BaseTrials } from "../../services/director/src/verification/base-trials.ts";
import { verify } from "../../services/director/src/verification/verification.ts";
import { openedRun, proposedRun } from "../support/proposed-run.ts";

/** Text and bytes alone are executable if they begin with `#!`. */
export type Content =
  string | Buffer | { readonly linksTo: string } | { readonly bytes: Buffer; readonly isExecutable: boolean };

export interface Case {
  readonly files: Readonly<Record<string, Content>>;
  readonly check: string;
  /** Path -> new content; null: deleted. */
  readonly change: Readonly<Record<string, Content | null>>;
  readonly workflow: "BUILD" | "DEBUG";
  readonly grants?: readonly string[] | undefined;
}

const WHO = {
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@b",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@b",
};
const CACHE = join(tmpdir(), "antiphon-cheats-cache");
/** The environment of a check: as little as in a sandbox, with caches of compilers that no change can reach. */
const ENV = {
  PATH: process.env["PATH"] ?? "",
  LANG: "C.UTF-8",
  GOCACHE: join(CACHE, "go"),
  GOFLAGS: "-mod=mod",
  GOPROXY: "off",
  CARGO_NET_OFFLINE: "true",
  RUSTUP_HOME: process.env["RUSTUP_HOME"] ?? join(process.env["HOME"] ?? "", ".rustup"),
  CARGO_HOME: process.env["CARGO_HOME"] ?? join(process.env["HOME"] ?? "", ".cargo"),
};

export async function verdictOn({ files, check, change, workflow, grants = [] }: Case): Promise<VerdictBody> {
  const top = mkdtempSync(join(tmpdir(), "antiphon-cheat-"));
  try {
    const git = (...args: string[]): string =>
      execFileSync("git", ["-C", top, ...args], { encoding: "utf8", env: { ...process.env, ...WHO } }).trim();
    git("init", "-q", "-b", "main");
    put(top, files);
    git("add", "-A", "-f");
    git("commit", "-q", "-m", "base");
    const base = git("rev-parse", "HEAD");
    put(top, change);
    git("add", "-A", "-f");
    const patch = execFileSync("git", ["-C", top, "diff", "--cached", "--binary", "--full-index"]);
    const opened = { path: top, commit: base, check, workflow, options: { grants: [...grants] } };
    const trees: Partial<Blobs> = {
      want: () => Promise.resolve(true),
      has: () => Promise.resolve(true),
      put: () => Promise.resolve(refOf(patch)),
    };
    const log = createLogger("cheats", { level: "silent" });
    const signer = { publicKey: Buffer.alloc(32), sign: () => Buffer.alloc(64) };
    const repository = new Repositories(trees as Blobs, { roots: null }, signer, log);
    const evidence = {
      store: () => Promise.resolve({ key: "k", digest: digestOf(patch) }),
      patch: () => Promise.resolve(patch),
      artifact: () => Promise.reject(new Error("no task of a cheat delivers a file")),
      keep: () => Promise.reject(new Error("no skill judges a cheat")),
    };
    const room = roomOver(top);
    const bases = new BaseTrials({ room, log, now: () => performance.now() });
    const ports = { repository, room, evidence, bases };
    const { run: due, effect: dispatch } = openedRun(opened);
    await baseAhead(
      due,
      dispatch,
      { commands: [check], discovered: false },
      { ...ports, prepared: Promise.resolve() },
    );
    const { run, effect } = proposedRun({ ...opened, patch: refOf(patch) });
    return await verify(run, effect, ports, new AbortController().signal);
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}

const refOf = (bytes: Buffer): BlobRef => ({
  bucket: "ANT_EVIDENCE_FILES",
  name: "p",
  digest: digestOf(bytes),
  bytes: bytes.length,
});

function put(top: string, files: Readonly<Record<string, Content | null>>): void {
  for (const [path, content] of Object.entries(files)) {
    const place = join(top, path);
    rmSync(place, { force: true });
    if (content === null) continue;
    mkdirSync(dirname(place), { recursive: true });
    if (typeof content === "object" && "linksTo" in content) {
      symlinkSync(content.linksTo, place);
      continue;
    }
    const { bytes, isExecutable } = fileOf(content);
    writeFileSync(place, bytes, { mode: isExecutable ? 0o755 : 0o644 });
  }
}

function fileOf(content: Exclude<Content, { readonly linksTo: string }>): {
  readonly bytes: Buffer;
  readonly isExecutable: boolean;
} {
  if (typeof content === "object" && "bytes" in content) return content;
  const bytes = Buffer.from(content);
  return { bytes, isExecutable: bytes.subarray(0, 2).toString() === "#!" };
}

function roomOver(repo: string): CleanRoomPort {
  return {
    check: (request) => {
      const trials: CheckOutcome[][] = [];
      const outputs: string[] = [];
      // A source of chance gets more trials than the least number, as in a sandbox.
      const count = request.trials.withinMs > 20_000 ? request.trials.most : request.trials.least;
      for (let i = 0; i < count; i += 1) trials.push(trialOf(repo, request, outputs));
      const reports = outputs.slice(0, request.checks.length).map((text) => readTestReport(text));
      return Promise.resolve({ trials, written: null, reports });
    },
  };
}

function trialOf(
  repo: string,
  { tree, candidate, checks, elsewhere, emptied, room: options }: RoomRequest,
  outputs: string[],
): CheckOutcome[] {
  const room = mkdtempSync(elsewhere === undefined ? "/tmp/antiphon-cheat-room-" : "/var/tmp/elsewhere-");
  try {
    if (emptied !== true) {
      const tar = execFileSync("git", ["-C", repo, "archive", tree.commit], { maxBuffer: 64 * 1024 * 1024 });
      execFileSync("tar", ["-xf", "-", "-C", room], { input: tar });
    }
    for (const path of candidate?.deletions ?? []) rmSync(join(room, path), { force: true });
    for (const { path, content, mode } of candidate?.overlay ?? []) {
      mkdirSync(dirname(join(room, path)), { recursive: true });
      writeFileSync(join(room, path), content, { mode: mode === "100755" ? 0o755 : 0o644 });
    }
    return checks.map((command) => {
      const env = { ...ENV, HOME: join(room, ".."), ...options?.env };
      const { status, stdout, stderr } = spawnSync("sh", ["-c", command], {
        cwd: room,
        env,
        timeout: 120_000,
      });
      outputs.push(`${stdout.toString()}\n${stderr.toString()}`);
      const ended = {
        exitCode: status,
        timedOut: status === null,
        durationMs: 1,
        stdout: null,
        stderr: null,
      };
      return { command, ...ended, tail: stderr.toString().slice(-500) };
    });
  } finally {
    rmSync(room, { recursive: true, force: true });
  }
}
