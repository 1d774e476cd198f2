/** How many commits the repository in a sandbox has. An attempt whose objects are exported again gets the same. */
import { limits } from "@antiphon/contracts";

/** For a skill that judges: the commit of the change and the one before it. */
export const GATE_HISTORY = 2;

/** For a git task: all that a run can have landed, and the commit that it started from. */
export const GIT_TASK_HISTORY = limits.tasksPerRun + 1;
