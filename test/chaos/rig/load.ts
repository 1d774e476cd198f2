/**
 * Gives the system work during the faults: keeps a number of runs open, requests each until it is accepted, cancels some and
 * answers questions. It ends when enough runs were accepted and the faults are over.
 */
import type { Client } from "./client.ts";
import type { Random } from "./random.ts";
import type { System } from "./system.ts";
import { jobAt, type Job, type WorkloadPlan } from "./workload.ts";

export interface LoadOptions {
  readonly seed: number;
  readonly runs: number;
  readonly workload: WorkloadPlan;
  /** Runs accepted and not yet ended, at most. */
  readonly open: number;
  readonly submitters: number;
}

const LOOK_MS = 500;

export class Load {
  readonly accepted = new Map<string, Job>();
  readonly #system: System;
  readonly #client: Client;
  readonly #options: LoadOptions;
  readonly #random: Random;
  readonly #stop = new AbortController();
  ended: ReadonlySet<string> = new Set();
  #submitted = 0;
  #tasks = 0;

  constructor(system: System, client: Client, options: LoadOptions, random: Random) {
    this.#system = system;
    this.#client = client;
    this.#options = options;
    this.#random = random;
  }

  get tasks(): number {
    return this.#tasks;
  }

  /** Accepted runs with a task that ends every process that works on it. */
  get poisonous(): string[] {
    return [...this.accepted].flatMap(([runId, { shape }]) => (shape === "poison" ? [runId] : []));
  }

  get open(): number {
    return this.accepted.size - [...this.accepted.keys()].filter((runId) => this.ended.has(runId)).length;
  }

  /** Submits until `isOver` and the wanted number of runs are reached, or until `stop`. */
  async drive(isOver: () => boolean, stop?: AbortSignal): Promise<void> {
    const watch = this.#watch();
    const talk = this.#answer();
    const wanted = (): boolean =>
      stop?.aborted !== true && (this.#submitted < this.#options.runs || !isOver());
    await Promise.all(
      Array.from({ length: this.#options.submitters }, async () => {
        while (wanted()) {
          if (this.open >= this.#options.open) await pause(50);
          else await this.#submit();
        }
      }),
    );
    this.#finish = async () => {
      this.#stop.abort();
      await Promise.all([watch, talk]);
    };
  }

  /** Waits for the end of every accepted run, up to a time limit, and answers questions meanwhile. */
  async settle(withinMs: number): Promise<void> {
    const until = Date.now() + withinMs;
    while (this.open > 0 && Date.now() < until) await pause(100);
    await this.#finish();
  }

  #finish: () => Promise<void> = () => Promise.resolve();

  async #submit(): Promise<void> {
    const index = this.#submitted;
    this.#submitted += 1;
    const job = jobAt(index, this.#options.workload, this.#random);
    const intentId = await this.#client.intent(job.intent, this.#stop.signal);
    const runId = await this.#client.start(
      intentId,
      `chaos-${this.#options.seed}-${index}`,
      this.#stop.signal,
    );
    if (runId === null)
      throw new Error(`run ${index} was refused: ${JSON.stringify(this.#client.calls.at(-1))}`);
    this.#tasks += job.tasks;
    this.accepted.set(runId, job);
    if (job.cancelAfterMs !== null) {
      await pause(job.cancelAfterMs);
      await this.#client.say("cancel", runId, this.#stop.signal);
    }
  }

  async #watch(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      this.ended = await this.#system.ended().catch(() => this.ended); // The server may be down just now.
      await pause(LOOK_MS);
    }
  }

  async #answer(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      for (const [runId, { shape }] of this.accepted) {
        if (shape !== "question" || this.ended.has(runId)) continue;
        const status = await this.#client.look(runId, this.#stop.signal);
        if (status === "waiting_input") await this.#client.say("answer", runId, this.#stop.signal);
      }
      await pause(LOOK_MS);
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
