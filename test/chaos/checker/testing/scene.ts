/**
 * One constructed run with its full history: records like the Director's, the client's calls, the commits. It is healthy as
 * built; a plant then breaks one thing.
 */
import { canonicalJson, digestOf, type ApprovalBody, type StoredRecord } from "@antiphon/contracts";
import { closingOf } from "../../../../run/src/owed/closing.ts";
import { openRun, replay } from "../../../../run/src/machine/replay.ts";
import { BASE, commitOf, RecordLog } from "../../../../run/src/testing/record-log.ts";
import type {
  BoundSample,
  ClientCall,
  ContainerEvent,
  GitCommit,
  GitRef,
  History,
  InjectedFault,
  PatchedTree,
  StoredBlob,
  StoredManifest,
} from "../history.ts";

export const REPO = "/repo";
export const START_MS = Date.UTC(2026, 0, 1);

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Calling = Partial<Mutable<ClientCall>> & Pick<ClientCall, "kind">;

let serial = 0;

export class Scene {
  readonly log: RecordLog;
  readonly runId: string;
  readonly calls: Mutable<ClientCall>[] = [];
  readonly commits: Mutable<GitCommit>[] = [];
  readonly refs: Mutable<GitRef>[] = [];
  readonly patched: Mutable<PatchedTree>[] = [];
  readonly blobs: Mutable<StoredBlob>[] = [];
  readonly manifests: Mutable<StoredManifest>[] = [];
  readonly containers: Mutable<ContainerEvent>[] = [];
  readonly bounds: Mutable<BoundSample>[] = [];
  readonly faults: Mutable<InjectedFault>[] = [];
  isPoisonous = false;
  healedMs = START_MS;
  endedMs = START_MS + 300_000;

  constructor(name: string) {
    this.runId = `run_${name.replaceAll(/[^a-z0-9]/g, "")}`;
    this.log = new RecordLog(this.runId);
  }

  get records(): StoredRecord[] {
    return this.log.records;
  }

  get branch(): string {
    return `refs/heads/antiphon/${this.runId}`;
  }

  called(call: Calling): this {
    serial += 1;
    const sentMs = call.sentMs ?? START_MS + serial;
    this.calls.push({
      id: serial,
      key: null,
      intentId: null,
      runId: this.runId,
      sentMs,
      answeredMs: sentMs + 1,
      status: call.kind === "get" ? 200 : 202,
      runStatus: null,
      ...call,
    });
    return this;
  }

  started(key = `key-${this.runId}`): this {
    return this.called({ kind: "start", key, intentId: "it_0" });
  }

  /** A person's decision about the last verdict: the run's `n`th approval. */
  decided(choice: ApprovalBody["choice"], by: string, n: number): this {
    const verdict = this.records.findLast(({ type }) => type === "verdict");
    if (verdict?.taskId == null) throw new Error("there is nothing to decide");
    const { taskId: task, epoch: attempt, digest } = verdict;
    this.log.add("approval", null, n, { task, attempt, verdict: digest, choice, by, reason: "so" });
    return this;
  }

  /** A landing in the journal and the commit in git; `n` numbers the commit, `on` is the one before. */
  lands(taskId: string, epoch: number, n: number, on: string = BASE): this {
    const commit = commitOf(n);
    const previous = on === BASE ? null : on;
    this.log.add("landing", taskId, epoch, { kind: "landed", ref: this.branch, commit, previous });
    return this.committed(taskId, epoch, n, on);
  }

  committed(taskId: string, epoch: number, n: number, on: string = BASE, refs = [this.branch]): this {
    const trailers = {
      "Antiphon-Run": this.runId,
      "Antiphon-Task": taskId,
      "Antiphon-Epoch": String(epoch),
      "Antiphon-Evidence": "",
    };
    this.commits.push({ repo: REPO, id: commitOf(n), tree: BASE, parents: [on], trailers, refs });
    this.refs.splice(0, this.refs.length, { repo: REPO, name: this.branch, commit: commitOf(n) });
    return this;
  }

  /** The closing record that the Director would write now. */
  closed(): this {
    this.log.add("closed", null, 0, this.#closing(this.records));
    const closed = this.records.at(-1);
    const runStatus = closed?.type === "closed" ? closed.body.status : null;
    return this.called({ kind: "get", runStatus });
  }

  /** Numbers, stamps and seals the records again after a plant moved them. */
  resealed(): this {
    this.records.forEach((record, i) =>
      Object.assign(record, { seq: i + 1, at: new Date(START_MS + i + 1) }),
    );
    const at = this.records.findIndex((record) => record.type === "closed");
    const closed = this.records[at];
    if (closed?.type === "closed") closed.body = this.#closing(this.records.slice(0, at));
    return this;
  }

  #closing(records: readonly StoredRecord[]) {
    const policy = { maxAttempts: 3, maxLapses: 5, maxOutages: 100, maxIntegrations: 3 };
    const body = closingOf(replay(openRun(this.runId, policy), records).context);
    const digests = records.map(({ digest }) => digest);
    return { ...body, seal: digestOf(new TextEncoder().encode(canonicalJson(digests))) };
  }

  history(witnessed: Partial<History["witnessed"]> = {}): History {
    return together([this], witnessed);
  }
}

export function together(scenes: readonly Scene[], witnessed: Partial<History["witnessed"]> = {}): History {
  const all = <T>(pick: (scene: Scene) => readonly T[]): T[] => scenes.flatMap(pick);
  return {
    healedMs: Math.max(...scenes.map(({ healedMs }) => healedMs)),
    endedMs: Math.max(...scenes.map(({ endedMs }) => endedMs)),
    calls: all((scene) => scene.calls),
    records: all((scene) => scene.records),
    refs: all((scene) => scene.refs),
    commits: all((scene) => scene.commits),
    patched: all((scene) => scene.patched),
    blobs: all((scene) => scene.blobs),
    manifests: all((scene) => scene.manifests),
    containers: all((scene) => scene.containers),
    bounds: all((scene) => scene.bounds),
    faults: all((scene) => scene.faults),
    poisonous: all(({ isPoisonous, runId }) => (isPoisonous ? [runId] : [])),
    witnessed: { git: true, evidence: false, engine: false, faults: true, ...witnessed },
  };
}
