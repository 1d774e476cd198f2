/** A run of one task whose Associate has proposed a patch, as the Director sees it before its verification. */
import type { BlobRef, RunOptions } from "@antiphon/contracts";
import { openRun, outstanding, replay, type EffectOf, type RunState } from "@antiphon/run";
import { RecordLog, planned } from "@antiphon/run/testing/record-log";
import { POLICY } from "../../services/director/src/testing/directing.ts";

interface Proposal {
  readonly runId?: string;
  /** Path of the repository. */
  readonly path: string;
  readonly commit: string;
  readonly check: string;
  readonly patch: BlobRef;
  readonly workflow?: "BUILD" | "DEBUG";
  readonly options?: Partial<RunOptions>;
}

export function proposedRun(proposal: Proposal): { run: RunState; effect: EffectOf<"verify"> } {
  const { runId, path, commit, check, patch, workflow = "BUILD", options = {} } = proposal;
  const plan = planned("T-001");
  const task = { ...plan.task, verify_profile: { mode: "smoke" as const, commands: [check] } };
  const log = new RecordLog(runId).opened([{ ...plan, task }], options, workflow);
  const [intent] = log.records;
  if (intent?.type !== "intent") throw new Error("unreachable");
  Object.assign(intent.body.base, { repo: { name: "app", path }, commit });
  log.dispatched("T-001").claimed("T-001").reported("T-001", 1, "ok");
  const last = log.records.at(-1);
  if (last?.type !== "result" || last.body.kind !== "reported") throw new Error("unreachable");
  Object.assign(last.body, { patch });
  const { context, ...snapshot } = replay(openRun(log.runId, POLICY), log.records);
  const effect = outstanding({ ...snapshot, context }).find(({ kind }) => kind === "verify");
  if (effect?.kind !== "verify") throw new Error("nothing to verify");
  return { run: context, effect };
}
