/**
 * The history of a chaos campaign or a simulation as plain data, the only input of the checker. Times are milliseconds of one
 * clock (real or virtual). Sources that were not observed (`witnessed`) are not judged.
 */
import type { StoredRecord } from "@antiphon/contracts";

/** One request, as the client saw it. A retry is a separate call. */
export interface ClientCall {
  readonly id: number;
  readonly kind: "start" | "cancel" | "answer" | "get";
  /** Idempotency-Key of a start; null: none was sent. */
  readonly key: string | null;
  /** The stored intent a start refers to. */
  readonly intentId: string | null;
  /** The run that was asked about, or that the answer named. */
  readonly runId: string | null;
  readonly sentMs: number;
  /** Null: no answer came. */
  readonly answeredMs: number | null;
  /** HTTP status; null: no answer came, so the result is unknown. */
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

/** Git's own result of a stored patch on a commit: the tree, or null if it does not apply. */
export interface PatchedTree {
  readonly repo: string;
  readonly on: string;
  /** Digest of the patch. */
  readonly patch: string;
  readonly tree: string | null;
}

/** An object that was read back; the digest covers the bytes that were read. */
export interface StoredBlob {
  readonly bucket: string;
  readonly name: string;
  readonly digest: string;
  readonly bytes: number;
}

/** An evidence manifest that was read back; `digest` covers its canonical JSON. */
export interface StoredManifest {
  readonly key: string;
  readonly digest: string;
  readonly files: readonly { readonly path: string; readonly blob: StoredBlob }[];
}

/** One event of the container engine about one of our containers. */
export interface ContainerEvent {
  readonly id: string;
  readonly atMs: number;
  readonly action: "create" | "start" | "assign" | "die" | "destroy";
  /** The attempt it works for; null while it waits in the pool. */
  readonly job: ContainerJob | null;
}

export interface ContainerJob {
  readonly runId: string;
  readonly taskId: string;
  readonly epoch: number;
  readonly purpose: "attempt" | "verify" | "base" | "prepare";
}

/** One measurement of a bounded quantity. */
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
  /** The role of the affected process; null: the server, or the whole machine. */
  readonly role: string | null;
  readonly fromMs: number;
  /** When it was undone, or the process was started again. */
  readonly untilMs: number;
}

export interface History {
  /** When the last fault was healed. */
  readonly healedMs: number;
  /** When the observation ended. */
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
  /** Runs with a task that ends every process that claims it. */
  readonly poisonous: readonly string[];
  /** The sources that were observed. The journal and the client always are. */
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
