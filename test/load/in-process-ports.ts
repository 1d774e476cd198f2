/**
 * `--sandbox none`: git, sandbox and clean room as plain objects in the service's own process, so that the load
 * measures Antiphon and not a container engine. They answer at once, and always the same.
 *
 * They exist only in the load tool; production wiring cannot reach them.
 */
import { createHash } from "node:crypto";
import type {
  LandingBody,
  RepoInspectReply,
  SandboxOutcome,
  SandboxRequest,
  TreeRef,
} from "@antiphon/contracts";
import type { BaseTrees, Sandbox } from "../../services/associate/src/ports.ts";
import type { CleanRoomPort, RepositoryPort } from "../../services/director/src/ports.ts";

export const REPO = { name: "load", path: "/load" } as const;
const BASE = "1".repeat(40);
const TREE = "2".repeat(40);
const PATCH = "--- a/stale.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-stale\n";

const base: TreeRef = { commit: BASE, tree: TREE, object: `tree-${TREE}.tar`, bytes: 1024, files: 1 };

/** The repository's answer to the gateway's question. */
export const INSPECTED = {
  ok: true as const,
  base: { repo: REPO, ref: "refs/heads/main", commit: BASE },
  branch: "main",
  dirty: false,
  files: 1,
  image: null,
} satisfies RepoInspectReply;

export function inProcessRepository(): RepositoryPort {
  const refs = new Map<string, string>();
  return {
    inspect: () => Promise.resolve(INSPECTED),
    exportBase: (_repo, commit) => Promise.resolve({ ...base, commit }),
    exportNamed: (_repo, _commit, object) => Promise.resolve([object]),
    exportHistory: () => Promise.resolve(null),
    texts: () => Promise.resolve(new Map()),
    discoverChecks: () => Promise.resolve([]),
    otherChecks: () => Promise.resolve([]),
    diff: () => Promise.reject(new Error("the load tool asks for no skill")),
    openedFiles: () => Promise.resolve([]),
    follow: () => Promise.resolve(null),
    candidate: (_repo, head) =>
      Promise.resolve({
        kind: "candidate",
        unproven: [],
        guards: [],
        judges: [],
        tests: [],
        chance: null,
        aware: [],
        files: [],
        candidate: { tree: sha1(`tree ${head}`), objects: [], overlay: [], deletions: ["stale.txt"] },
      }),
    // As in git, the same content is the same commit.
    commit: (_repo, commit) =>
      Promise.resolve(sha1(JSON.stringify([commit.parent, commit.message, commit.trailers]))),
    land(_repo, ref, commit, previous): Promise<LandingBody> {
      const now = refs.get(ref);
      if (now !== undefined && now !== commit && now !== previous) {
        const message = `${ref} is at ${now}`;
        return Promise.resolve({ kind: "refused", code: "ANT_LANDING_HEAD_MOVED", message });
      }
      refs.set(ref, commit);
      return Promise.resolve({ kind: "landed", ref, commit, previous });
    },
    replayOnto: () => Promise.reject(new Error("the load tool asks for no target branch")),
    runsOf: () => Promise.resolve([]),
    tip: (_repo, ref) => Promise.resolve(refs.get(ref) ?? null),
  };
}

export function inProcessRoom(): CleanRoomPort {
  return {
    check: ({ checks, trials, emptied = false }) => {
      const exitCode = emptied ? 1 : 0; // The check depends on files.
      const silent = { timedOut: false, durationMs: 0, stdout: null, stderr: null, tail: "" };
      const outcomes = checks.map((command) => ({ command, exitCode, ...silent }));
      return Promise.resolve({ trials: Array.from({ length: trials.least }, () => outcomes), written: null });
    },
  };
}

/** A sandbox in which every command succeeds, and which returns one file. */
export function inProcessSandbox(): Sandbox {
  return { run: (request) => Promise.resolve(outcomeOf(request)) };
}

function outcomeOf(request: SandboxRequest): SandboxOutcome {
  const silent = { blob: null, bytes: 0, kept: 0, truncated: false, tail: "" };
  return {
    outcome: "completed",
    code: null,
    message: "completed",
    steps: request.steps.map(({ id }) => ({
      id,
      exitCode: 0,
      timedOut: false,
      durationMs: 0,
      stdout: silent,
      stderr: silent,
    })),
    changes: request.collect ? { overlay: null, files: [], deletions: ["stale.txt"] } : null,
    meta: { bootMs: 0, provider: "docker", node: "load", image: "none", containerId: "none" },
  };
}

export function inProcessTrees(): BaseTrees {
  return {
    ensure: () => Promise.resolve(),
    diff: (_base, change) => Promise.resolve({ patch: PATCH, files: [...change.deletions] }),
    check: () => [{ path: "stale.txt", from: null }],
    apply: () => Promise.resolve({ files: [], deletions: ["stale.txt"] }),
  };
}

function sha1(text: string): string {
  return createHash("sha1").update(text).digest("hex");
}
