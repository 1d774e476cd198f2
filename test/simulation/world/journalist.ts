/** Records, from outside the services, the history that the checker judges. */
import { BUCKETS, parseJournalSubject, type StoredBytes } from "@antiphon/contracts";
import type { ClientCall, ContainerEvent, GitCommit, History } from "../../chaos/checker/history.ts";
import { emptyHistory } from "../../chaos/checker/history.ts";
import { WALL_START_MS } from "../ambient.ts";
import type { Broker } from "../server/broker.ts";
import { shown } from "../server/broker.ts";
import type { StoredMessage } from "../server/stream-model.ts";
import { readEvidence } from "./evidence-witness.ts";
import type { Objects } from "./sim-blobs.ts";
import { READER } from "./services.ts";
import { REPO, type SimGit } from "./sim-repository.ts";
import type { ContainerLife } from "./sim-runner.ts";

export interface Scene {
  broker: Broker;
  git: SimGit;
  files: Objects;
  containers: readonly ContainerLife[];
}

export class Journalist {
  /** Runs with an intent and without an end. */
  openRuns = 0;
  private readonly stored: { message: StoredMessage; atMs: number }[] = [];
  private readonly broker: Broker;
  private readonly git: SimGit;
  private readonly files: Objects;
  private readonly containers: readonly ContainerLife[];
  private readonly calls: readonly ClientCall[];

  constructor({ broker, git, files, containers }: Scene, calls: readonly ClientCall[]) {
    this.broker = broker;
    this.git = git;
    this.files = files;
    this.containers = containers;
    this.calls = calls;
    broker.jetstream.onStored = (stream, message) => this.see(stream, message);
  }

  history(healMs: number, endMs: number): History {
    const records = this.messages().map((message) => READER.read(message));
    const manifests = this.broker.jetstream.stream(`KV_${BUCKETS.evidence}`);
    return {
      ...emptyHistory(),
      ...readEvidence(records, { manifests, files: this.files, git: this.git }),
      healedMs: WALL_START_MS + healMs,
      endedMs: WALL_START_MS + endMs,
      calls: this.calls,
      records,
      refs: [...this.git.refs].map(([name, commit]) => ({ repo: REPO.path, name, commit })),
      commits: this.commits(),
      containers: this.containers.flatMap((life) => eventsOf(life, endMs)),
      // The runner is a stand-in, so I8 judges here only who asks for containers, and when; that the real
      // runner and its reaper take them away is what the campaign with real processes looks at. Faults have no times here.
      witnessed: { git: true, evidence: true, engine: true, faults: false },
    };
  }

  /** Every message of the journal as it was stored. */
  messages(): StoredBytes[] {
    return this.stored.map(({ message, atMs }) => storedOf(message, atMs));
  }

  private see(stream: string, message: StoredMessage): void {
    const { timeline } = this.broker;
    const digest = message.headers.get("Antiphon-Digest");
    timeline.note(`stored ${stream} ${message.seq} ${shown(message.subject)} ${digest}`);
    const address = parseJournalSubject(message.subject);
    if (address === null) return;
    this.stored.push({ message, atMs: timeline.now });
    if (address.type === "intent") this.openRuns += 1;
    else if (address.type === "closed") this.openRuns -= 1;
  }

  private commits(): GitCommit[] {
    const { git } = this;
    const reached = new Map<string, string[]>();
    for (const [name, tip] of git.refs) {
      for (const id of git.history(tip)) reached.set(id, [...(reached.get(id) ?? []), name]);
    }
    return [...reached].map(([id, refs]) => {
      const { tree, parent, trailers } = git.need(id);
      return { repo: REPO.path, id, tree, parents: parent === null ? [] : [parent], trailers, refs };
    });
  }
}

function storedOf({ subject, seq, data, headers }: StoredMessage, atMs: number): StoredBytes {
  return { subject, seq, data, at: new Date(WALL_START_MS + atMs), header: (name) => headers.get(name) };
}

function eventsOf(life: ContainerLife, endMs: number): ContainerEvent[] {
  const { run, task, epoch, purpose } = life.request;
  const event = (action: ContainerEvent["action"], atMs: number): ContainerEvent => ({
    id: life.id,
    atMs: WALL_START_MS + atMs,
    action,
    job: { runId: run, taskId: task, epoch, purpose },
  });
  const ended =
    life.endedMs === null
      ? []
      : [event("die", Math.min(life.endedMs, endMs)), event("destroy", Math.min(life.endedMs, endMs))];
  return [event("create", life.startedMs), event("start", life.startedMs), ...ended];
}
