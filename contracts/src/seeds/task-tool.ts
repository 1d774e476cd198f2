/** The tools that a task can allow. Pure. */
export const TASK_TOOL_NAMES = ["read_file", "write_file", "edit_file", "bash", "git_checkpoint"] as const;
export type TaskTool = (typeof TASK_TOOL_NAMES)[number];
