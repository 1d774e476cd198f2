/** Everything that crosses a process boundary: shapes, names, limits, errors. No IO. */
export * from "./stored/archive-pack.ts";
export * from "./stored/backlog.ts";
export * from "./wire/codec.ts";
export { DeadLetter } from "./journal/dead-letter.ts";
export {
  documentValue,
  validateDocument,
  type DocumentCheck,
  type DocumentProblem,
} from "./documents/document.ts";
export { AgentPack, type PackAsks, type PackTranscript } from "./settings/agent-pack.ts";
export type { PackUsage } from "./settings/pack-usage.ts";
export { missingProgram, programOf } from "./runs/check-program.ts";
export { meantCommand } from "./runs/meant-command.ts";
export { missedNetwork } from "./runs/missed-network.ts";
export { isPinnedInstall, packAgent, startsAnywhere, type PackChoice } from "./runs/pack-agent.ts";
export { EgressConfig } from "./settings/egress-config.ts";
export * from "./rpc/egress-rpc.ts";
export * from "./rpc/environment.ts";
export * from "./errors.ts";
export { contractList, explain, findContract } from "./reference/explain.ts";
export { isRefName } from "./shapes/git-name.ts";
export * from "./shapes/repository-url.ts";
export { SCRIPT_LOCKS, scriptRunner } from "./shapes/script-runner.ts";
export { globAlternatives, globFault } from "./documents/glob.ts";
export * from "./wire/headers.ts";
export { AssociateId, CommitId, Digest, Epoch, IntentId, RunId, TaskId } from "./shapes/ids.ts";
export { intake } from "./validation/intake.ts";
export * from "./journal/approval.ts";
export * from "./journal/archived.ts";
export * from "./journal/check-outcome.ts";
export * from "./journal/claim.ts";
export * from "./journal/closed.ts";
export * from "./journal/dispatch.ts";
export * from "./journal/intent.ts";
export * from "./journal/landing.ts";
export * from "./journal/record.ts";
export * from "./journal/message.ts";
export * from "./journal/result.ts";
export * from "./journal/routed.ts";
export * from "./journal/control.ts";
export * from "./topology/timer.ts";
export * from "./journal/side-input.ts";
export * from "./journal/verdict.ts";
export * from "./rpc/check-rpc.ts";
export * from "./rpc/session-rpc.ts";
export * from "./rpc/replay-rpc.ts";
export * from "./stored/model-recording.ts";
export * from "./rpc/images-rpc.ts";
export * from "./rpc/models-rpc.ts";
export { jsonSchemaOf } from "./registry/json-schema.ts";
export { layout } from "./documents/layout.ts";
export * from "./limits.ts";
export * from "./wire/live.ts";
export * from "./metrics.ts";
export * from "./settings/project-file.ts";
export * from "./settings/service-spec.ts";
export * from "./rpc/service-logs.ts";
export * from "./settings/sandbox-providers.ts";
export * from "./settings/toolchains.ts";
export { misspelt } from "./settings/variables.ts";
export { rawRecord } from "./stored/run-material.ts";
export type { JournalOverview, JournalPartition, RawRecord, RunMaterial } from "./stored/run-material.ts";
export type { StoredBytes } from "./stored/stored-bytes.ts";
export { API_PREFIX, inCore } from "./principals/nats-accounts.ts";
export { PRINCIPALS, isPrincipal, type Principal } from "./principals/principals.ts";
export { Provenance } from "./runs/provenance.ts";
export { withAnsweredChecks, type AnsweredCriteria } from "./plans/answered-checks.ts";
export {
  allChecks,
  criteriaOfChecks,
  criterionText,
  isOfCheckAlone,
  mapCriteria,
  type MappedCriterion,
} from "./plans/criteria.ts";
export {
  criteriaAnswers,
  UNVERIFIED,
  type CriteriaAnswer,
  type CriteriaQuestion,
} from "./plans/criteria-question.ts";
export { changesFiles, GIT_BASE, goesBack } from "./plans/git-tasks.ts";
export { planDocuments } from "./plans/plan-documents.ts";
export { PlanFile } from "./plans/plan-file.ts";
export { readPlan, type ReadPlan, type TaskGraph } from "./plans/read-plan.ts";
export { taskIdOf, taskNumberIn } from "./plans/task-number.ts";
export { PLAN_FILE, planProblemText, readPlanText } from "./plans/plan-text.ts";
export * from "./reviews/findings.ts";
export * from "./reviews/review.ts";
export * from "./reviews/brief.ts";
export * from "./reviews/briefing.ts";
export * from "./rpc/policy-simulation.ts";
export * from "./rpc/rebuild-rpc.ts";
export * from "./rpc/restore-rpc.ts";
export { bodyBytes, fitsRecord, recordBodyBytes } from "./stored/record-size.ts";
export * from "./rpc/repo-export-rpc.ts";
export * from "./rpc/run-contract-rpc.ts";
export * from "./shapes/refs.ts";
export * from "./registry/registry.ts";
export * from "./rpc/repo-rpc.ts";
export * from "./rpc/connectors-rpc.ts";
export * from "./rpc/admission-rpc.ts";
export { findCycle } from "./rules/graph.ts";
export { unsafePath } from "./rules/paths.ts";
export { checkRouterContract } from "./rules/router-contract.ts";
export { RunEvent } from "./runs/run-event.ts";
export * from "./runs/agents.ts";
export { agentsInTurn } from "./runs/agents-in-turn.ts";
export * from "./runs/approvals.ts";
export * from "./runs/connectors.ts";
export * from "./runs/notice.ts";
export * from "./runs/fork.ts";
export * from "./runs/narrowed-budget.ts";
export * from "./runs/hears.ts";
export * from "./runs/task-limits.ts";
export { TASK_TOOL_NAMES } from "./seeds/task-tool.ts";
export * from "./runs/skill-gates.ts";
export {
  BRIEF,
  DELIVERABLES,
  deliverableOf,
  deliverableOfSkill,
  type Deliverable,
} from "./runs/deliverables.ts";
export { modelHostIn, PROVIDER_KEYS } from "./runs/model-hosts.ts";
export * from "./runs/hook-decision.ts";
export * from "./runs/run-options.ts";
export * from "./runs/task-spec.ts";
export * from "./rpc/sandbox-rpc.ts";
export * from "./seeds/associate-result.ts";
export * from "./seeds/director-task.ts";
export * from "./seeds/evidence-manifest.ts";
export * from "./seeds/intent.ts";
export * from "./seeds/open-code.ts";
export * from "./seeds/patch.ts";
export * from "./seeds/plan.ts";
export * from "./seeds/router-contract.ts";
export * from "./seeds/run-view-model.ts";
export * from "./seeds/sandbox-job.ts";
export * from "./seeds/skill-result.ts";
export * from "./seeds/task-contract.ts";
export * from "./seeds/v13-commands.ts";
export * from "./seeds/v13-events.ts";
export * from "./seeds/v13-plan.ts";
export * from "./seeds/v13-policy.ts";
export * from "./seeds/v13-refs.ts";
export * from "./runs/session-decision.ts";
export * from "./runs/session-entry.ts";
export * from "./runs/session-workspace.ts";
export * from "./stored/outcome-digest.ts";
export * from "./stored/signature.ts";
export { validateSkillResult } from "./validation/skill-check.ts";
export { subjectList } from "./topology/subject-list.ts";
export * from "./topology/subjects.ts";
export * from "./topology/topology.ts";
export { readVersion, upcast, UPCASTERS } from "./validation/upcast.ts";
export { isSlip } from "./validation/slip.ts";
export { requestProblem } from "./validation/request-problem.ts";
export * from "./validation/validate.ts";
export { durationMs, isoDuration, toContractJson } from "./wire/wire-json.ts";
