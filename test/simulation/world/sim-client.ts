/**
 * The caller: starts runs, repeats unanswered requests under the same key, cancels some runs, answers questions. Its
 * observations are half of the history.
 */
import { AntiphonError } from "@antiphon/contracts";
import type { ClientCall } from "../../chaos/checker/history.ts";
import type { Gateway } from "../../../services/gateway/src/gateway.ts";
import { WALL_START_MS } from "../ambient.ts";
import type { Chance } from "../chance.ts";
import type { SimNode } from "../node.ts";
import type { Timeline } from "../timeline.ts";
import type { RunStep } from "@antiphon/contracts";
import { PEOPLE, type RunPlan } from "./run-plan.ts";

/** Without an answer within this time, the result is unknown. */
const PATIENCE_MS = 20_000;

type Answer<T> = { status: number; body: T | null } | null;
type Draft = { -readonly [K in keyof ClientCall]: ClientCall[K] };

export interface ClientParts {
  node: SimNode;
  timeline: Timeline;
  chance: Chance;
  gateways: ReadonlyMap<SimNode, Gateway>;
}

function callerOf({ approvals }: RunPlan) {
  return { principal: approvals === 0 ? "local" : PEOPLE[0], session: null };
}

export class SimClient {
  readonly calls: Draft[] = [];
  /** Runs that were answered with 202. */
  readonly accepted = new Set<string>();
  /** Plans that are not complete. */
  busy = 0;
  private readonly parts: ClientParts;

  constructor(parts: ClientParts) {
    this.parts = parts;
  }

  async story(plan: RunPlan): Promise<void> {
    this.busy += 1;
    await this.pause(plan.startMs);
    const intentId = await this.untilAnswered(() =>
      this.http((gateway) =>
        gateway.intake.create(plan.intent, callerOf(plan)).then((made) => made.intentId),
      ),
    );
    const runId = await this.start(intentId, plan);
    if (runId !== null) {
      this.accepted.add(runId);
      if (plan.cancelAfterMs !== null) await this.cancel(runId, plan.cancelAfterMs);
      if (plan.asks || plan.lacks || plan.approvals > 0) await this.answer(runId);
    }
    this.busy -= 1;
  }

  private async start(intentId: string, plan: RunPlan): Promise<string | null> {
    let runId: string | null = null;
    for (let round = 0; round < (plan.key === null ? 1 : 200); round += 1) {
      const call = this.note({ kind: "start", key: plan.key, intentId, runId: null });
      const answer = await this.http((gateway) =>
        gateway.intake.run(intentId, { ...callerOf(plan), key: plan.key, body: {} }),
      );
      this.close(call, answer, 202);
      call.runId = answer?.body?.runId ?? null;
      runId ??= call.runId;
      if (runId !== null && !(plan.asksTwice && round === 0)) return runId;
      await this.pause(this.parts.chance.between(200, 2_000));
    }
    return runId;
  }

  private async cancel(runId: string, afterMs: number): Promise<void> {
    await this.pause(afterMs);
    for (;;) {
      const call = this.note({ kind: "cancel", key: null, intentId: null, runId });
      const answer = await this.http((gateway) =>
        gateway.say(runId, { event: "cancel", reason: "enough" }, "local"),
      );
      this.close(call, answer, 202);
      if (answer !== null && answer.status < 500) return;
      await this.pause(1_000);
    }
  }

  /** Polls the run and answers its questions until it is over. */
  private async answer(runId: string): Promise<void> {
    for (;;) {
      await this.pause(this.parts.chance.between(1_000, 6_000));
      const seen = await this.http((gateway) => gateway.view(runId));
      const status = seen?.body?.status;
      if (status === "succeeded" || status === "failed" || status === "canceled") return;
      const waiting = seen?.body?.steps.find((step) => step.phase === "waiting_input");
      if (waiting === undefined) continue;
      const call = this.note({ kind: "answer", key: null, intentId: null, runId });
      const { words, by } = this.wordsFor(waiting);
      this.close(call, await this.http((gateway) => gateway.say(runId, words, by)), 202);
    }
  }

  /** Answers a question, or decides on a change: mostly an approval, sometimes by the requester or for an old verdict. */
  private wordsFor({ id, questions, approval }: RunStep): { words: object; by: string } {
    if (approval === undefined) {
      const isCheck = questions.some((question) => question.startsWith("Which command"));
      const answers = [isCheck ? "npm run fast" : "the blue one"];
      return { words: { event: "answer", answers, task: id }, by: "local" };
    }
    const { chance } = this.parts;
    const choice = chance.pick(["approve", "approve", "approve", "approve", "changes", "reject"]);
    const verdict = chance.hit(0.5) ? { verdict: approval.verdict } : {};
    return {
      words: { event: "approval", choice, reason: "so", task: id, ...verdict },
      by: chance.pick(PEOPLE),
    };
  }

  private async untilAnswered<T>(ask: () => Promise<Answer<T>>): Promise<T> {
    for (;;) {
      const answer = await ask();
      if (answer !== null && answer.body !== null) return answer.body;
      await this.pause(this.parts.chance.between(200, 1_500));
    }
  }

  /** One request to a gateway that is up. Null: no answer came. */
  private http<T>(call: (gateway: Gateway) => Promise<T>): Promise<Answer<T>> {
    const { timeline, chance, node, gateways } = this.parts;
    const [server, gateway] = gateways.size === 0 ? [] : chance.pick([...gateways]);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(null), PATIENCE_MS);
      const reply = (answer: Answer<T>): void => {
        if (server?.act() !== true) return;
        timeline.after(chance.between(0.1, 2), node, () => {
          clearTimeout(timer);
          resolve(answer);
        });
      };
      if (server === undefined || gateway === undefined) return;
      timeline.after(chance.between(0.1, 2), server, () => {
        call(gateway).then(
          (body) => reply({ status: 200, body }),
          (error: unknown) => reply({ status: AntiphonError.from(error).httpStatus, body: null }),
        );
      });
      server.onCrash(() => timeline.after(1, node, () => resolve(null)));
    });
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }

  private note(words: Pick<Draft, "kind" | "key" | "intentId" | "runId">): Draft {
    const sentMs = this.wallMs();
    const call: Draft = {
      ...words,
      id: this.calls.length + 1,
      sentMs,
      answeredMs: null,
      status: null,
      runStatus: null,
    };
    this.calls.push(call);
    return call;
  }

  private close(call: Draft, answer: Answer<unknown>, success: number): void {
    this.parts.timeline.note(`call ${call.id} ${call.kind} -> ${answer?.status ?? "no answer"}`);
    if (answer === null) return;
    call.answeredMs = this.wallMs();
    call.status = answer.status === 200 ? success : answer.status;
  }

  private wallMs(): number {
    return WALL_START_MS + this.parts.timeline.now;
  }
}
