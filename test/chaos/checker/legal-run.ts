/**
 * The legal life of a run, by the transition table: which record may follow which. Two Directors may work on one run, and each
 * sees a prefix of it. A record may therefore come too late to count (the run was stopped meanwhile), but never too early,
 * without a cause, or twice.
 */
import { limits, STORAGE_TYPES, type StoredRecord } from "@antiphon/contracts";
import { askersOf, counts, neededFor, needsApprovals } from "./approved.ts";
import { next, UNBORN, wordOf, type Bounds, type TaskLife, type Word } from "./transition-table.ts";

export interface Illegal {
  readonly rule: string;
  readonly seqs: readonly number[];
  readonly what: string;
}

/** `failing`: no new work; active attempts may finish. `canceling`: only changes that were accepted before may land. */
type Mode = "unborn" | "queued" | "working" | "failing" | "canceling" | "over";
type Integration = { phase: "none" | "open" | "accepted" | "over"; epoch: number; commit: string | null };

const MAX_INTEGRATIONS = 3;
/** Records that people and timers write at any time; they wake a Director, pause new work or tell an attempt something, and change no task. */
const FREE: ReadonlySet<StoredRecord["type"]> = new Set(["control", "requeue", "message"]);
/** Records about where a run is stored; legal once it is over. */
const STORAGE: ReadonlySet<StoredRecord["type"]> = new Set(STORAGE_TYPES);
/** Phases in which a task is being worked on or landed. */
const UNDER_WAY: ReadonlySet<string> = new Set(["dispatched", "claimed", "accepted"]);
/** Records that are harmless after the run was stopped. */
const MAY_BE_LATE: ReadonlySet<StoredRecord["type"]> = new Set([
  "dispatch",
  "claim",
  "result",
  "verdict",
  "input",
  "due",
]);

export class LegalRun {
  readonly illegal: Illegal[] = [];
  readonly tasks = new Map<string, TaskLife>();
  #mode: Mode = "unborn";
  #head = "";
  #base = "";
  #deps = new Map<string, readonly string[]>();
  #bounds: Bounds = {
    maxAttempts: limits.maxAttempts,
    maxLapses: limits.maxLapses,
    maxOutages: limits.maxOutages,
  };
  #integration: Integration = { phase: "none", epoch: 0, commit: null };
  readonly #heads = new Set<string>();
  readonly #passed = new Map<string, string>();
  readonly #askers = new Set<string>();
  /** The task that waits for a check; no task goes out meanwhile. */
  #asked: string | null = null;
  #needed = 0;
  #approvals = 0;
  /** The waiting decision: the verdict's digest, the head it was verified on, the people who approved it. */
  readonly #awaited = new Map<string, { digest: string; head: string; by: Set<string>; needed: number }>();
  /** Whether people decided about a commit of the run, so that no other may land in its place. */
  #isApproved = false;
  /** Whether skills did: another one may land after they have judged that one too. */
  #isJudged = false;
  /** Which skill has still to pass which tree before the whole run lands. */
  #unjudged = new Set<string>();

  static of(records: readonly StoredRecord[]): LegalRun {
    const run = new LegalRun();
    for (const record of records) run.take(record);
    return run;
  }

  take(record: StoredRecord): void {
    if (this.#mode === "unborn" && record.type !== "intent") {
      this.#refuse(record, "before-intent", `a ${record.type} came before the intent`);
      return;
    }
    if (STORAGE.has(record.type)) {
      if (this.#mode !== "over")
        this.#refuse(record, "archived-early", `${record.type}, and the run is not over`);
      return;
    }
    for (const asker of askersOf(record)) this.#askers.add(asker);
    if (FREE.has(record.type)) return;
    if (record.taskId !== null) {
      if (record.type === "verdict" && record.body.verdict === "PASS")
        this.#unjudged.delete(`${record.taskId} ${record.body.tree}`);
      return this.#task(record, record.taskId);
    }
    switch (record.type) {
      case "intent":
        if (this.#mode !== "unborn") this.#refuse(record, "second-intent", "a second intent");
        this.#mode = "queued";
        this.#head = this.#base = record.body.base.commit;
        this.#heads.add(this.#base);
        this.#bounds = { ...this.#bounds, maxAttempts: record.body.options.max_attempts };
        if (record.body.options.land_on !== undefined) this.#integration.epoch = 1;
        this.#needed = needsApprovals([record]);
        return;
      case "approval":
        return this.#approve(record);
      case "routed":
        return this.#routed(record);
      case "cancel":
        if (this.#mode !== "over") this.#mode = "canceling";
        return;
      case "verdict":
      case "landing":
        return this.#integrate(record);
      case "closed":
        return this.#close(record);
      default:
        this.#refuse(record, "no-task", `a ${record.type} without a task`);
    }
  }

  #routed(record: Extract<StoredRecord, { type: "routed" }>): void {
    if (this.#mode === "queued") this.#mode = record.body.tasks.length === 0 ? "failing" : "working";
    for (const { task, deps } of record.body.tasks) {
      this.tasks.set(task.task_id, UNBORN);
      this.#deps.set(task.task_id, deps);
    }
  }

  #task(record: StoredRecord, id: string): void {
    const task = this.tasks.get(id);
    const told = wordOf(record);
    const isAsked = record.type === "verdict" && neededFor(this.#needed, record) > 0;
    const word = told === "pass" && isAsked ? "pass to decide" : told;
    if (task === undefined || word === null) {
      this.#refuse(record, "unknown-task", `a ${record.type} of ${id}, which the run does not have`);
      return;
    }
    if (record.epoch < task.epoch) return; // I7 judges this.
    if (this.#isTooLate(record)) return;
    const moved = record.epoch === task.epoch ? next(task, word, this.#bounds) : null;
    if (moved === null) {
      if (record.type === "due") return; // The answer came at the same moment.
      if (this.#mode === "failing" && MAY_BE_LATE.has(record.type)) return;
      const where = `${id}, which is ${task.phase} at epoch ${task.epoch}`;
      this.#refuse(record, "no-such-step", `${word} of epoch ${record.epoch} on ${where}`);
      return;
    }
    this.#circumstances(record, id);
    this.tasks.set(id, moved);
    if (record.type === "verdict" && record.body.asks !== undefined) this.#asked = id;
    else if (this.#asked === id) this.#asked = null;
    if (moved.phase === "failed" && this.#mode === "working") this.#mode = "failing";
  }

  #approve(record: Extract<StoredRecord, { type: "approval" }>): void {
    const { task: id, attempt, verdict, choice, by } = record.body;
    this.#approvals += 1;
    if (record.epoch !== this.#approvals)
      this.#refuse(record, "approval-number", `approval ${record.epoch} where ${this.#approvals} was next`);
    const task = this.tasks.get(id);
    const awaited = this.#awaited.get(id);
    if (this.#mode === "canceling" || this.#mode === "over" || this.#isSettled()) return;
    const isAbout = awaited?.digest === verdict && task?.phase === "awaiting" && task.epoch === attempt;
    const isNew = choice !== "approve" || (counts(by, this.#askers) && awaited?.by.has(by) === false);
    if (!isAbout || !isNew) {
      this.#refuse(record, "no-such-step", `${choice} of ${by} on ${id} at epoch ${attempt}`);
      return;
    }
    if (choice === "approve") awaited.by.add(by);
    const isLast = awaited.by.size >= awaited.needed;
    const word: Word = choice !== "approve" ? choice : isLast ? "last approval" : "approval";
    const moved = next(task, word, this.#bounds);
    if (moved === null) return;
    if (moved.phase === "accepted") this.#oneAtATime(record, id, awaited.head);
    this.tasks.set(id, moved);
    if (moved.phase === "failed" && this.#mode === "working") this.#mode = "failing";
  }

  /** A failing run waits for active attempts, but not for people. */
  #isSettled(): boolean {
    const lives = [...this.tasks.values()];
    const isHeldUp = lives.some(({ phase }) => phase === "awaiting");
    const isUnderWay = lives.some(({ phase }) => UNDER_WAY.has(phase) || (phase === "proposed" && !isHeldUp));
    return this.#mode === "failing" && !isUnderWay;
  }

  /** Whether the record came after the run was stopped, so that it no longer counts and does no harm. */
  #isTooLate({ type }: StoredRecord): boolean {
    if (this.#mode === "canceling" || this.#mode === "over") return MAY_BE_LATE.has(type);
    return this.#mode === "failing" && (type === "dispatch" || type === "input" || type === "due");
  }

  /** The conditions outside the task under which its step is legal. */
  #circumstances(record: StoredRecord, id: string): void {
    if (record.type === "dispatch") {
      if (this.#asked !== null)
        this.#refuse(record, "asked-first", `${id} went out while ${this.#asked} waits for a check`);
      const missing = (this.#deps.get(id) ?? []).filter((dep) => this.tasks.get(dep)?.phase !== "done");
      if (missing.length > 0)
        this.#refuse(record, "dependency", `${id} went out before ${missing.join(", ")}`);
      const { commit } = record.body.base;
      if (!this.#heads.has(commit)) this.#refuse(record, "foreign-base", `${id} starts from ${commit}`);
    }
    if (record.type === "verdict" && record.body.verdict === "PASS" && record.body.commit !== null) {
      this.#oneAtATime(record, id, record.body.head);
      this.#passed.set(id, record.body.commit);
      const needed = neededFor(this.#needed, record);
      this.#isApproved ||= needed > 0;
      this.#isJudged ||= (record.body.gates ?? []).length > 0;
      this.#awaited.set(id, { digest: record.digest, head: record.body.head, by: new Set(), needed });
    }
    if (record.type === "landing" && record.body.kind === "landed") {
      const passed = this.#passed.get(id);
      if (record.body.commit !== passed) this.#refuse(record, "other-commit", `${id} landed another commit`);
      const previous = this.#head === this.#base ? null : this.#head;
      if (record.body.previous !== previous)
        this.#refuse(record, "torn-branch", `${id} landed beside the head`);
      this.#head = record.body.commit;
      this.#heads.add(this.#head);
    }
  }

  #oneAtATime(record: StoredRecord, id: string, verifiedOn: string): void {
    const other = [...this.tasks].find(([name, life]) => name !== id && life.phase === "accepted");
    if (other !== undefined) this.#refuse(record, "two-at-once", `${id} and ${other[0]} are both accepted`);
    if (verifiedOn !== this.#head)
      this.#refuse(record, "stale-head", `${id} was verified on ${verifiedOn}, the head is ${this.#head}`);
  }

  #integrate(record: Extract<StoredRecord, { type: "verdict" | "landing" }>): void {
    const now = this.#integration;
    const isWanted = now.epoch > 0 && [...this.tasks.values()].every(({ phase }) => phase === "done");
    if (!isWanted || record.epoch !== now.epoch) {
      if (this.#mode !== "working" && record.type === "verdict") return;
      this.#refuse(record, "no-such-step", `a ${record.type} of the whole run at epoch ${record.epoch}`);
    } else if (record.type === "verdict") {
      if (this.#mode !== "working") return; // Canceled meanwhile.
      const { commit, replayed } = record.body;
      const isRepeatable = !this.#isApproved && (!this.#isJudged || replayed !== undefined);
      const isApproved = commit === this.#head || isRepeatable;
      const again = (replayed ?? []).flatMap(({ gates, tree }) => gates.map((gate) => `${gate} ${tree}`));
      this.#unjudged = new Set(again);
      const pass = record.body.verdict === "PASS" && isApproved;
      this.#integration = { ...now, phase: pass ? "accepted" : "over", commit };
      if (!pass) this.#mode = "failing";
    } else {
      if (now.phase !== "accepted") this.#refuse(record, "no-such-step", "the whole run landed unverified");
      if (record.body.kind === "landed" && this.#unjudged.size > 0)
        this.#refuse(record, "unjudged", `landed before ${[...this.#unjudged].join(", ")} was judged`);
      if (record.body.kind === "landed" && record.body.commit !== now.commit) {
        this.#refuse(record, "other-commit", "the whole run landed another commit");
      }
      const moved = record.body.kind === "refused" && record.body.code === "ANT_LANDING_HEAD_MOVED";
      const again = moved && now.epoch < MAX_INTEGRATIONS;
      this.#integration = again
        ? { phase: "open", epoch: now.epoch + 1, commit: null }
        : { ...now, phase: "over" };
    }
  }

  #close(record: Extract<StoredRecord, { type: "closed" }>): void {
    const lives = [...this.tasks.values()];
    if (this.#mode === "working") {
      const settled = lives.every(({ phase }) => phase === "done");
      if (!settled) this.#refuse(record, "closed-early", "the run was closed with work left to do");
    }
    const accepted = [...this.tasks].find(([, { phase }]) => phase === "accepted");
    if (accepted !== undefined)
      this.#refuse(record, "closed-early", `closed while ${accepted[0]} was accepted`);
    const failed = lives.some(({ phase }) => phase !== "done") || lives.length === 0;
    if (record.body.status === "succeeded" && failed) {
      this.#refuse(record, "false-success", "closed as succeeded, and not all of its tasks are done");
    }
    this.#mode = "over";
  }

  #refuse(record: StoredRecord, rule: string, what: string): void {
    this.illegal.push({ rule, seqs: [record.seq], what });
  }
}
