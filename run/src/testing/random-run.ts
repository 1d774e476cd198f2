/**
 * Histories of imaginary runs, drawn from a seed. Services only write what the state of the run allows, but people and
 * timers write at any time, and what an Associate or Director wrote may arrive late: after a cancel, or after the end.
 */
import type { StoredRecord } from "@antiphon/contracts";
import { openRun, replay, type RunSnapshot } from "../machine/replay.ts";
import { closingOf } from "../owed/closing.ts";
import { outstanding, type Effect } from "../owed/outstanding.ts";
import type { RunPolicy, TaskState } from "../state/run-state.ts";
import { commitOf, planned, RecordLog } from "./record-log.ts";

const TASKS = ["T-001", "T-002", "T-003"];
const PEOPLE = ["ann", "ben", "cleo", "token"];
const EVIDENCE = { key: "bundle", digest: `sha256-${"e".repeat(43)}` };
const PATCH = { bucket: "files", name: "patch", digest: `sha256-${"p".repeat(43)}`, bytes: 3 };

export function randomRun(seed: number, policy: RunPolicy): StoredRecord[] {
  return new RandomRun(seed, policy).records();
}

class RandomRun {
  readonly #log: RecordLog;
  readonly #written = new Set<string>();
  #state: number;
  #run: RunSnapshot;

  constructor(seed: number, policy: RunPolicy) {
    this.#state = seed;
    this.#log = new RecordLog(`run_${seed}`);
    this.#run = openRun(this.#log.runId, policy);
  }

  records(): StoredRecord[] {
    this.#open();
    for (let steps = 10 + this.#below(60); steps > 0; steps -= 1) {
      this.#run = replay(this.#run, this.#log.records);
      if (this.#run.status !== "active" && this.#below(3) === 0) break;
      this.#step();
    }
    return this.#log.records;
  }

  /** The same seed gives the same numbers (mulberry32). */
  #below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % bound;
  }

  #pick<T>(choices: readonly [T, ...T[]] | readonly T[]): T {
    const chosen = choices[this.#below(choices.length)];
    if (chosen === undefined) throw new Error("there is nothing to choose from");
    return chosen;
  }

  #open(): void {
    const ids = TASKS.slice(0, this.#below(10) === 0 ? 0 : 1 + this.#below(3));
    const plan = ids.map((id, i) =>
      planned(
        id,
        ids.slice(0, i).filter(() => this.#below(2) === 0),
      ),
    );
    const needed = Math.max(0, this.#below(5) - 2);
    this.#log.opened(
      plan,
      {
        ...(needed > 0 ? { approvals: { needed } } : {}),
        ...(this.#below(3) === 0 ? { land_on: "main" } : {}),
      },
      "BUILD",
      this.#pick(["ann", "local"]),
    );
    if (this.#below(20) > 0) return;
    const routed = this.#log.records.pop();
    if (this.#below(2) === 0) this.#log.canceled();
    if (routed !== undefined) this.#log.add(routed.type, null, 0, routed.body);
  }

  #step(): void {
    const chance = this.#below(20);
    if (chance === 0) this.#outside();
    else if (chance < 4) this.#word();
    else if (chance < 13) this.#director();
    else this.#associate();
  }

  /** Writes a record unless its register is taken. */
  #once(key: string, write: () => unknown): void {
    if (this.#written.has(key)) return;
    this.#written.add(key);
    write();
  }

  #outside(): void {
    const n = this.#log.records.length;
    switch (this.#below(5)) {
      case 0:
        return this.#once("cancel", () => this.#log.canceled());
      case 1:
        this.#log.add("requeue", null, n, {
          consumer: "director",
          origin: { type: "intent", task: null, epoch: 0 },
          code: "ANT_INTERNAL",
          by: "ann",
        });
        return;
      default:
        this.#log.add("control", null, n, { kind: this.#pick(["pause", "resume"]), by: "ann" });
    }
  }

  #word(): void {
    const verdict = this.#log.records.findLast(({ type }) => type === "verdict");
    const by = this.#pick(PEOPLE);
    const asking = this.#run.context.tasks.find(({ phase }) => phase.kind === "asking");
    const choice = this.#pick(["approve", "approve", "reject", "changes"] as const);
    const reason = this.#below(2) === 0 ? {} : { reason: "too wide" };
    if (asking !== undefined) {
      const { epoch } = asking.phase;
      const id = asking.planned.task.task_id;
      const said = this.#below(2) === 0 ? { event: "answer" } : { event: "approval", choice, ...reason };
      this.#once(`input ${id} ${epoch}`, () =>
        this.#log.add("input", id, epoch, { ...said, answers: [], by }),
      );
    } else if (verdict !== undefined && verdict.taskId !== null) {
      const about = { task: verdict.taskId, attempt: verdict.epoch, verdict: verdict.digest };
      this.#log.add("approval", null, this.#log.records.length, { ...about, choice, by, ...reason });
    }
  }

  #director(): void {
    const effects = outstanding(this.#run);
    if (effects.length > 0) return this.#perform(this.#pick(effects));
    const task = this.#run.context.tasks.find(
      ({ phase }) => phase.kind === "resting" || phase.kind === "asking",
    );
    if (task === undefined || (task.phase.kind === "asking" && this.#below(5) > 0)) return;
    const id = task.planned.task.task_id;
    const kind = task.phase.kind === "resting" ? "rest" : "question";
    this.#once(`due ${id} ${task.phase.epoch}`, () => this.#log.add("due", id, task.phase.epoch, { kind }));
  }

  #perform(effect: Effect): void {
    const commit = commitOf(this.#log.records.length);
    switch (effect.kind) {
      case "dispatch":
        return this.#below(30) === 0
          ? this.#judge(effect.taskId, effect.epoch, "refused")
          : this.#once(`dispatch ${effect.taskId} ${effect.epoch}`, () =>
              this.#log.dispatched(effect.taskId, effect.epoch),
            );
      case "verify":
        return this.#judge(effect.taskId, effect.epoch, { commit: this.#below(6) === 0 ? null : commit });
      case "verify-integration":
        return this.#judge(null, effect.epoch, {
          commit: this.#below(2) === 0 ? commit : this.#run.context.head,
        });
      case "land":
        return this.#land(effect.taskId, effect.epoch, effect.phase.verdict.commit ?? commit);
      case "land-integration":
        return this.#land(null, effect.epoch, commit);
      case "close":
        return this.#once("closed", () => this.#log.add("closed", null, 0, closingOf(this.#run.context)));
    }
  }

  #judge(taskId: string | null, epoch: number, outcome: "refused" | { commit: string | null }): void {
    const evidence = taskId === null || this.#below(4) === 0 ? null : EVIDENCE;
    const passed = outcome !== "refused" && this.#below(3) > 0;
    const code = this.#pick([
      "ANT_VERIFY_CHECK_FAILED",
      "ANT_VERIFY_CHECK_FAILED",
      "ANT_VERIFY_NO_CHECK",
      null,
    ]);
    const verdict = this.#pick(["FAIL", "FLAKY", "UNVERIFIABLE"] as const);
    const asksPeople = taskId !== null && this.#below(3) === 0;
    const approval = asksPeople ? { approval: { needed: 1 + this.#below(2), reasons: ["a gate"] } } : {};
    const failed = { verdict, code, commit: null, message: `no (${epoch})`, evidence };
    this.#once(`verdict ${taskId} ${epoch}`, () =>
      this.#log.judged(taskId, epoch, passed ? { ...outcome, ...approval, evidence } : failed),
    );
  }

  #land(taskId: string | null, epoch: number, commit: string): void {
    const refusal = { kind: "refused" as const, code: "ANT_LANDING_HEAD_MOVED", message: "the branch moved" };
    this.#once(`landing ${taskId} ${epoch}`, () =>
      this.#below(8) === 0
        ? this.#log.add("landing", taskId, epoch, refusal)
        : this.#log.landed(taskId, epoch, commit),
    );
  }

  #associate(): void {
    const busy = this.#run.context.tasks.filter(
      ({ phase }) => phase.kind === "dispatched" || phase.kind === "claimed",
    );
    if (busy.length > 0) this.#attempt(this.#pick(busy));
  }

  #attempt({ planned: { task }, phase }: TaskState): void {
    const { epoch } = phase;
    const id = task.task_id;
    const key = `${id} ${epoch}`;
    if (!this.#written.has(`claim ${key}`) && !this.#written.has(`result ${key}`) && this.#below(20) > 0)
      return this.#once(`claim ${key}`, () => this.#log.claimed(id, epoch, this.#pick(["as_1", "as_2"])));
    this.#once(`result ${key}`, () => this.#result(id, epoch));
  }

  #result(id: string, epoch: number): void {
    switch (this.#below(9)) {
      case 0:
        return void this.#log.lapsed(id, epoch);
      case 1:
        return void this.#log.withoutSandbox(id, epoch);
      case 2: {
        const lost = {
          kind: "abandoned" as const,
          associate: "as_1",
          code: "ANT_INTERNAL",
          message: "stopped",
        };
        return void this.#log.add("result", id, epoch, lost);
      }
      case 3:
        return void this.#log.reported(id, epoch, "needs_input");
      case 4:
        return void this.#log.reported(id, epoch, "failed", this.#pick(["ANT_SANDBOX_IMAGE_UNUSABLE", null]));
      default:
        this.#log.reported(id, epoch, "ok", null, this.#below(2) === 0 ? PATCH : null);
    }
  }
}
