/**
 * Rebuilds the documents of a run from its journal, and a landing that the journal lost from its traces in the journal
 * or from git. Called run by run (`antiphon doctor --journal --rebuild`). Each call reads the run anew; a second call
 * finds everything in place and writes nothing.
 *
 * A damaged run is left as it is, because its view may be the last trace of what is lost. Nothing is invented: a
 * landing is put back under its old sequence only if its bytes have the digest by which a later record names it. A
 * landing that an open run owes is made by the Director's own landing, and git decides whether the change has landed
 * already.
 */
import {
  AntiphonError,
  rawRecord,
  SIGNED_TYPES,
  type Doubt,
  type RebuiltRun,
  type RunViewModel,
} from "@antiphon/contracts";
import { causeChain, proveRun, lostLanding, outstanding } from "@antiphon/run";
import type { JournalFault } from "@antiphon/run";
import { held, type Held } from "@antiphon/contracts/stored/run-material";
import type { Clock, JournalAudit, Kv, Logger, LostRecord } from "@antiphon/runtime";
import type { Director } from "../scheduling/director.ts";
import type { Projector } from "../views/projector.ts";
import type { CachedRun } from "../runs/cached-run.ts";
import type { RunCache } from "../runs/run-cache.ts";

/** How long a rebuild waits for a landing. The landing itself continues after that. */
const LANDING_MS = 10_000;

export interface RebuilderParts {
  audit: JournalAudit;
  /** ANT_RUNS. */
  views: Kv;
  runs: RunCache;
  director: Pick<Director, "advance">;
  projector: Pick<Projector, "rewrite">;
  putBack(lost: LostRecord): Promise<boolean>;
  /** Tells which decisions are not believed. */
  doubt: Doubt;
  /** The number of the journal's partitions. */
  partitions: () => number;
  log: Logger;
  clock: Clock;
  /** Ends with the process. */
  signal: AbortSignal;
}

/** The state of a run as it is read. */
interface Look {
  readonly faults: readonly JournalFault[];
  readonly closed: boolean;
  readonly messages: readonly Held[];
}

export class Rebuilder {
  readonly #parts: RebuilderParts;

  constructor(parts: RebuilderParts) {
    this.#parts = parts;
  }

  async rebuild(runId: string): Promise<RebuiltRun> {
    const before = await this.#look(runId);
    if (before.messages.length === 0)
      throw new AntiphonError("ANT_RUN_NOT_FOUND", `there is no run ${runId}`);
    let now = before;
    if (now.faults.length > 0 && (await this.#putBack(now))) now = await this.#look(runId);
    const mayGoOn = !now.closed && now.faults.every(isLostLanding);
    if (now.faults.length > 0 && !mayGoOn) throw left(runId, now.faults);
    const goesOn = now.closed ? null : await this.#land(runId);
    if (goesOn !== null) now = await this.#look(runId);
    const restored = landingsOf(now).filter((subject) => !landingsOf(before).includes(subject));
    if (now.faults.length > 0 && goesOn !== true) throw left(runId, now.faults);
    const written =
      now.faults.length > 0 ? [] : await this.#parts.projector.rewrite(runId, () => this.#read(runId));
    if (written.length + restored.length > 0)
      this.#parts.log.info({ run: runId, written, restored }, "rebuilt");
    return { runId, written, restored, goesOn: goesOn === true };
  }

  async #look(runId: string): Promise<Look> {
    const { audit, partitions, doubt } = this.#parts;
    const view = await this.#view(runId); // Read before the records, so that they include everything the view tells of.
    const { messages, ...rest } = await audit.run(runId);
    const records = messages.map((message) => rawRecord(message, message.storedSeq));
    const { faults, closed } = proveRun(
      { runId, records, view, ...rest },
      { doubt, partitions: partitions() },
    );
    // A forged message is no part of the run and does not stop the rebuild.
    const others = faults.filter(({ kind }) => kind !== "forged");
    const believed = records.map(held).filter((message) => !isDoubted(message, doubt));
    return { faults: others, closed, messages: believed };
  }

  async #view(runId: string): Promise<RunViewModel | null> {
    try {
      return (await this.#parts.views.get<RunViewModel>(runId))?.value ?? null;
    } catch (error) {
      if (AntiphonError.from(error).code !== "ANT_STATE_CORRUPT") throw error;
      return null;
    }
  }

  /** Puts back lost landings; true if there was one. */
  async #putBack({ messages }: Look): Promise<boolean> {
    const records = messages.flatMap(({ record }) => (record === null ? [] : [record]));
    let any = false;
    for (const { seq, digest, namedBy } of causeChain(messages).holes) {
      const record = lostLanding(records, { seq, digest });
      if (record === null) continue;
      await this.#parts.putBack({ record, seq, at: namedBy.at, digest });
      any = true;
    }
    return any;
  }

  /** Carries out the landings that an open run owes. Null: it owes none; true: they take longer than LANDING_MS. */
  async #land(runId: string): Promise<boolean | null> {
    const { director, clock, signal } = this.#parts;
    const run = await this.#read(runId);
    const owes = outstanding(run.snapshot).some(({ kind }) => kind === "land" || kind === "land-integration");
    const last = run.records.at(-1);
    if (!owes || last === undefined) return null;
    const landing = director.advance(run, { seq: last.seq, digest: last.digest }, signal);
    const waited = new AbortController();
    const late = clock.sleep(LANDING_MS, waited.signal).then(() => true);
    try {
      return await Promise.race([landing.then(() => false), late]);
    } finally {
      waited.abort();
    }
  }

  /** Reads the run past the cache. */
  #read(runId: string): Promise<CachedRun> {
    this.#parts.runs.forget(runId);
    return this.#parts.runs.load(runId);
  }
}

const isDoubted = ({ address, signature, digest, problem }: Held, doubt: Doubt): boolean =>
  address !== null &&
  SIGNED_TYPES.includes(address.type) &&
  problem === null &&
  doubt(signature, digest) !== null;

const isLostLanding = ({ kind, subject }: JournalFault): boolean =>
  kind === "missing" && subject !== null && isLanding(subject);

const isLanding = (subject: string): boolean => subject.split(".")[4] === "landing";

const landingsOf = ({ messages }: Look): string[] => messages.map(({ subject }) => subject).filter(isLanding);

function left(runId: string, faults: readonly JournalFault[]): AntiphonError {
  const [first] = faults;
  const where = first?.subject ?? "a register that nothing names";
  const detail = `${runId} is damaged and was left as it is: ${first?.kind ?? ""} ${where}, ${faults.length} in all`;
  return new AntiphonError(first?.code ?? "ANT_JOURNAL_GAP", detail, { data: { runId } });
}
