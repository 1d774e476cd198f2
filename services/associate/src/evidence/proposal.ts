/** The proposal of an ended attempt: the diff of its change, the facts and the report. Nothing of it is stored yet. */
import { AntiphonError, type DispatchBody } from "@antiphon/contracts";
import type { AttemptOrder } from "../attempt/attempt-order.ts";
import { checksOf, factsOf } from "../attempt/attempt.ts";
import { isOwnFault } from "../attempt/fault.ts";
import { isEmpty, type AttemptPorts, type Diff } from "../ports.ts";
import { setAside, type Artifact } from "./artifacts.ts";
import type { AttemptFacts, Ending } from "./attempt-facts.ts";
import { answerOf, type Session } from "./compile-answer.ts";
import { insideMessage } from "./inside-commit.ts";
import { stepsOf, type Ran } from "./ran.ts";
import { refusedCallOf } from "./refused-call.ts";
import { reportOf, type Report } from "./report.ts";

export interface Proposed {
  readonly facts: AttemptFacts;
  readonly report: Report;
  readonly artifacts: readonly Artifact[];
  /** Of an agent that compiles; null: there is none. */
  readonly session: Session | null;
}

export async function proposed(
  { runId, dispatch }: Pick<AttemptOrder, "runId" | "dispatch">,
  ports: Pick<AttemptPorts, "trees" | "evidence">,
  ran: Ran,
): Promise<Proposed> {
  const { artifacts, change } = setAside(dispatch.task, ran.change, ran.outcome);
  const { diff, ending } = await diffed(dispatch, ports, { ...ran, change }); // associate/A6
  const answer = await answerOf({ ...ran, ending }, ports.evidence);
  const end = answer !== null && "fault" in answer ? answer.fault : ending;
  const facts = factsFor({ runId, dispatch }, { ...ran, ending: end }, diff, artifacts);
  const session = answer !== null && "session" in answer ? answer.session : null;
  return { facts, report: reportOf(facts), artifacts, session };
}

/** A change that cannot be a diff of the base, such as one inside a submodule, is the agent's fault and is reported. */
async function diffed(
  dispatch: DispatchBody,
  ports: Pick<AttemptPorts, "trees">,
  { change, ending }: Ran,
): Promise<{ diff: Diff | null; ending: Ending }> {
  if (isEmpty(change)) return { diff: null, ending };
  try {
    return { diff: await ports.trees.diff(dispatch.base, change), ending };
  } catch (thrown) {
    const { code, detail } = AntiphonError.from(thrown);
    if (!isOwnFault(code)) throw thrown; // associate/A5
    return {
      diff: null,
      ending: ending.kind === "ran" ? { kind: "stopped", code, message: detail } : ending,
    };
  }
}

function factsFor(
  { runId, dispatch }: Pick<AttemptOrder, "runId" | "dispatch">,
  ran: Ran,
  diff: Diff | null,
  artifacts: readonly Artifact[],
): AttemptFacts {
  const wrote = artifacts.map(({ path }) => `; wrote ${path}`).join("");
  const { task } = dispatch;
  const outcomes = stepsOf(ran);
  return {
    runId,
    taskId: task.task_id,
    kind: task.kind,
    git_action: task.git_action,
    ending: ran.ending,
    work: factsOf(ran.plan?.work ?? [], outcomes),
    checks: factsOf(ran.plan?.checks ?? [], outcomes),
    verify: { mode: task.verify_profile.mode, commands: checksOf(dispatch) },
    selfVerified: ran.work?.selfVerify ?? true,
    change: diff,
    setupFiles: (diff?.files ?? []).filter((path) => dispatch.environment?.decided_by.includes(path)),
    message: insideMessage(ran.outcome),
    note: `${ran.work?.note ?? "did nothing"}${wrote}`,
    budgetSpent: ran.outcome?.egress?.budget_spent === true,
    modelFailed: ran.outcome?.egress?.model_failed ?? null,
    refused: refusedCallOf(ran.outcome?.egress ?? null, dispatch.agent),
    left: artifacts.length,
    wants: {
      diff: task.return.diff,
      filesChanged: task.return.files_changed,
      files: task.return.artifacts.length,
    },
  };
}
