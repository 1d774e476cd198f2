/** Paths of a run's documents in an export (seed 001), relative to the export. */
export const layout = {
  routerContract: "router_contract.yaml",
  /** As the Router opened it: the contract of a run that is over names neither its goal nor its tasks. */
  openedContract: "router_contract.opened.yaml",
  taskContract: (taskId: string): string => `tasks/${taskId}.yaml`,
  taskSchema: "tasks/schema.json",
  evidence: (taskId: string, runId: string): string => `evidence/${taskId}/run-${runId}`,
  manifest: (taskId: string, runId: string): string => `${layout.evidence(taskId, runId)}/manifest.json`,
  manifestSchema: "evidence/manifest.schema.json",
  skillResults: (runId: string): string => `skills/results/${runId}`,
  ioSchema: (skill: string): string => `skills/${skill}/io_schema.json`,
} as const;
