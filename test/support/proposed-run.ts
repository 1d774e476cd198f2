/** A run of one task, as the Director sees it before its dispatch, and when its Associate has proposed a patch. */
import type { AgentSpec, BlobRef, RunOptions } from "@antiphon/contracts";
import { openRun, outstanding, replay, type Effect, type EffectOf, type RunState } from "@antiphon/run";
import { RecordLog, planned } from "@antiphon/run/testing/record-log";
import { POLICY } from "../../services/director/src/testing/directing.ts";

interface Opened {
  readonly runId?: string;
  /** Path of the repository. */
  readonly path: string;
  readonly commit: string;
  readonly check: string;
  readonly agent?: AgentSpec;
  readonly workflow?: "BUILD" | "DEBUG";
  readonly options?: Partial<RunOptions>;
}

interface Owing<K extends Effect["kind"]> {
  readonly run: RunState;
  readonly effect: EffectOf<K>;
}

/** It has to be dispatched. */
export function openedRun(opened: Opened): Owing<"dispatch"> {
  return owing("dispatch", logOf(opened));
}

export function proposedRun({ patch, ...opened }: Opened & { readonly patch: BlobRef }): Owing<"verify"> {
  const log = logOf(opened).dispatched("T-001").claimed("T-001");
  return owing("verify", log.reported("T-001", 1, "ok", null, patch));
}

function logOf({ runId, path, commit, check, agent, workflow = "BUILD", options = {} }: Opened): RecordLog {
  const plan = planned("T-001");
  const task = { ...plan.task, verify_profile: { mode: "smoke" as const, commands: [check] } };
  const one = { ...plan, task, ...(agent === undefined ? {} : { agent }) };
  const log = new RecordLog(runId).opened([one], options, workflow);
  const [intent] = log.records;
  if (intent?.type !== "intent") throw new Error("unreachable");
  Object.assign(intent.body.base, { repo: { name: "app", path }, commit });
  return log;
}

function owing<K extends Effect["kind"]>(kind: K, log: RecordLog): Owing<K> {
  const { context, ...snapshot } = replay(openRun(log.runId, POLICY), log.records);
  const isIt = (effect: Effect): effect is EffectOf<K> => effect.kind === kind;
  const effect = outstanding({ ...snapshot, context }).find(isIt);
  if (effect === undefined) throw new Error(`the run owes no ${kind}`);
  return { run: context, effect };
}
