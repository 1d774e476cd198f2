/**
 * A sandbox job under way, which may outlive the attempt that began it: when its agent asks a person, the attempt ends with
 * the question, and the attempt that gets the answer goes on with the job.
 *
 * Lifecycle: running -> asking -> running ... -> over. While it is `asking`, nobody but its holder (held-jobs.ts) can stop it.
 */
import type { SandboxEvent, SandboxOutcome, SandboxStepOutcome } from "@antiphon/contracts";
import { JobAnswers, JobMessages, onAbort } from "@antiphon/runtime";
import type { Told } from "./mailbox.ts";
import type { Ran, Work } from "../evidence/ran.ts";
import type { JobPlan } from "./attempt.ts";
import type { Stops } from "./attempt-order.ts";
import type { EarlierWork } from "./earlier-work.ts";

export interface Asked {
  readonly number: number;
  readonly text: string;
  /** Its program has ended, and is started again with the answer. */
  readonly hasEnded: boolean;
  /** What its commands had changed then; null: it cannot be told. */
  readonly tree: QuestionTree | null;
  /** What its command had printed then; null: it cannot be told. */
  readonly step: SandboxStepOutcome | null;
}

export type QuestionTree = NonNullable<Extract<SandboxEvent, { kind: "question" }>["tree"]>;

export type JobEnd = SandboxOutcome | "over-budget";

export interface JobCalls {
  readonly answers: JobAnswers;
  readonly messages: JobMessages;
  readonly onQuestion: (asked: Asked) => void;
}

/** What the report of the attempt needs besides the outcome. */
export interface JobFacts {
  readonly plan: JobPlan;
  readonly work: Work;
  readonly budgetMs: number;
  /** What it started from, and what its agent was told then. */
  readonly before: EarlierWork;
  /** Messages of people that its brief holds. */
  readonly briefed: readonly Told[];
  /** Messages that its inbox holds from the beginning. */
  readonly first: readonly Told[];
}

export class RunningJob {
  readonly facts: JobFacts;
  /** Rejects with infrastructure faults. */
  readonly ended: Promise<JobEnd>;
  readonly #stop = new AbortController();
  readonly #giveUp = new AbortController();
  readonly #answers = new JobAnswers();
  readonly #messages = new JobMessages();
  /** In its inbox, in the order of their numbers there. */
  readonly #inbox: Told[];
  #question: Asked | null = null;
  #answered = 0;
  #isOver = false;
  #wake: (asked: Asked) => void = () => undefined;

  constructor(facts: JobFacts, start: (stops: Stops, calls: JobCalls) => Promise<JobEnd>) {
    this.facts = facts;
    this.#inbox = [...facts.first];
    const stops = { stop: this.#stop.signal, giveUp: this.#giveUp.signal };
    const calls = { answers: this.#answers, messages: this.#messages };
    this.ended = start(stops, { ...calls, onQuestion: (asked) => this.#ask(asked) }).finally(
      () => (this.#isOver = true),
    );
    this.ended.catch(() => undefined); // `next` rejects with it; a held job may have no reader any more
  }

  /** The question that waits for an answer; null: there is none, or the job is over. */
  get question(): Asked | null {
    return this.#isOver ? null : this.#question;
  }

  /** The outcome or the next question, whichever comes first. The job is stopped with the attempt meanwhile. */
  async next(stops: Stops): Promise<{ readonly outcome: JobEnd } | { readonly asked: Asked }> {
    const follow = (from: AbortSignal, to: AbortController): (() => void) => {
      const stop = (): void => to.abort(from.reason);
      if (from.aborted) stop();
      return onAbort(from, stop);
    };
    const unfollow = [follow(stops.giveUp, this.#giveUp), follow(stops.stop, this.#stop)];
    const asked = new Promise<Asked>((resolve) => {
      this.#wake = resolve;
      if (this.#question !== null) resolve(this.#question);
    });
    try {
      return await Promise.race([
        this.ended.then((outcome) => ({ outcome })),
        asked.then((one) => ({ asked: one })),
      ]);
    } finally {
      for (const end of unfollow) end();
    }
  }

  /** `epoch`: the attempt that goes on with it. */
  answer(text: string, epoch: number): void {
    const { question } = this;
    if (question === null) return;
    this.#question = null;
    this.#answered = question.number;
    this.#answers.give({ kind: "answer", number: question.number, text, epoch });
  }

  /** Each message counts once, however often it is told. */
  tell(told: Told): void {
    if ([...this.facts.briefed, ...this.#inbox].some(({ n }) => n === told.n)) return;
    this.#inbox.push(told);
    this.#messages.give(told.text);
  }

  /** The messages that the agent was given: by its brief, or because it read its inbox. */
  heardIn({ heard = [] }: SandboxOutcome): NonNullable<Ran["heard"]> {
    const read = heard.flatMap(({ number, look }) => {
      const told = this.#inbox[number - 1];
      return told === undefined ? [] : [{ message: told.n, look }];
    });
    return [...this.facts.briefed.map(({ n }) => ({ message: n, look: 0 })), ...read];
  }

  /** Ends it at once; nobody waits for its outcome. */
  drop(): void {
    this.#giveUp.abort("canceled");
    this.#stop.abort("canceled");
  }

  #ask(asked: Asked): void {
    if (asked.number <= this.#answered || this.#question?.number === asked.number) return; // a repetition
    this.#question = asked;
    this.#wake(asked);
  }
}
