/** Holds a task before its first attempt until a person says what proves it. */
import { AntiphonError, type CriteriaQuestion } from "@antiphon/contracts";
import type { TaskState } from "@antiphon/run";

type Code = "ANT_VERIFY_NO_CHECK" | "ANT_VERIFY_CRITERION";

/** The question belongs to `taskId`, which need not be the task that was due. */
export class MissingCriteria extends AntiphonError {
  readonly taskId: string;
  readonly epoch: number;
  readonly asks: CriteriaQuestion[];

  constructor(code: Code, message: string, { planned, phase }: TaskState, asks: CriteriaQuestion[]) {
    super(code, message);
    this.taskId = planned.task.task_id;
    this.epoch = phase.epoch;
    this.asks = asks;
  }
}
