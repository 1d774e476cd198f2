/**
 * What a chaos run or a simulation leaves behind, as plain data: the only input of the checker. Times are
 * milliseconds of one clock (real or virtual). A source that nobody looked at (`witnessed`) decides nothing.
 */
import type { StoredRecord } from "@antiphon/contracts";

/** One request of the client as the client saw it. A retry is a call of its own. */
export interface ClientCall {
  readonly id: number;
  readonly kind: "start" | "cancel" | "answer" | "get";
  /** Idempotency-Key of a start; null: none was sent. */
  readonly key: string | null;
  /** The stored intent a start refers to. */
  readonly intentId: string | null;
  /** What was asked about, or what the answer named. */
  readonly runId: string | null;
  readonly sentMs: number;
  /** Null: no answer came. */
  readonly answeredMs: number | null;
  /** HTTP status; null: no answer came, so nobody knows what happened. */
  readonly status: number | null;
  /** Status of the run in the answer to a get. */
  readonly runStatus: string | null;
}

export interface GitRef {
  readonly repo: string;
  readonly name: string;
  readonly commit: string;
}

/** A commit that a ref reaches and that the repository did not start with. */
export interface GitCommit {
  readonly repo: string;
  readonly id: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly trailers: Readonly<Record<string, string>>;
  /** Refs that reach it. */
  readonly refs: readonly string[];
}

/** What git itself makes of a stored patch on a commit: the tree, or null when it does not apply. */
export interface PatchedTree {
  readonly repo: string;
  readonly on: string;
  /** Digest of the patch. */
  readonly patch: string;
  readonly tree: string | null;
}

/** An object as it was read back: the digest is of the bytes that came. */
export interface StoredBlob {
  readonly bucket: string;
  readonly name: string;
  readonly digest: string;
  readonly bytes: number;
}

/** An evidence manifest as it was read back; `digest` is of its canonical JSON. */
export interface StoredManifest {
  readonly key: string;
  readonly digest: string;
  readonly files: readonly { readonly path: string; readonly blob: StoredBlob }[];
}

/** One word of the container engine about a container of ours. */
export interface ContainerEvent {
  readonly id: string;
  readonly atMs: number;
  readonly action: "create" | "start" | "assign" | "die" | "destroy";
  /** Whose work it carries; null while it waits in the pool. */
  readonly job: ContainerJob | null;
}

export interface ContainerJob {
  readonly runId: string;
  readonly taskId: string;
  readonly epoch: number;
  readonly purpose: "attempt" | "verify" | "base";
}

/** One measurement of something that must stay below a bound. */
export interface BoundSample {
  readonly atMs: number;
  /** `director memory`, `nats disk`, `open runs`. */
  readonly what: string;
  readonly value: number;
  readonly bound: number;
  readonly unit: string;
}

/** Something the rig did to the system. */
export interface InjectedFault {
  readonly kind: string;
  /** The role of the process it was done to; null: the server, or the whole machine. */
  readonly role: string | null;
  readonly fromMs: number;
  /** When it was taken back, or the process was started again. */
  readonly untilMs: number;
}

export interface History {
  /** The last fault was healed then. */
  readonly healedMs: number;
  /** Nobody looked any more after that. */
  readonly endedMs: number;
  readonly calls: readonly ClientCall[];
  /** The whole journal, in stream order within a run; archived runs included. */
  readonly records: readonly StoredRecord[];
  readonly refs: readonly GitRef[];
  readonly commits: readonly GitCommit[];
  readonly patched: readonly PatchedTree[];
  readonly blobs: readonly StoredBlob[];
  readonly manifests: readonly StoredManifest[];
  readonly containers: readonly ContainerEvent[];
  readonly bounds: readonly BoundSample[];
  readonly faults: readonly InjectedFault[];
  /** Runs with a task that ends whoever claims it. */
  readonly poisonous: readonly string[];
  /** Which sources were looked at. The journal and the client always are. */
  readonly witnessed: {
    readonly git: boolean;
    readonly evidence: boolean;
    readonly engine: boolean;
    readonly faults: boolean;
  };
}

export function emptyHistory(): History {
  return {
    healedMs: 0,
    endedMs: 0,
    calls: [],
    records: [],
    refs: [],
    commits: [],
    patched: [],
    blobs: [],
    manifests: [],
    containers: [],
    bounds: [],
    faults: [],
    poisonous: [],
    witnessed: { git: false, evidence: false, engine: false, faults: false },
  };
}
