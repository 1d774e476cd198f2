import type { ClaimBody, NewRecord, ResultBody } from "@antiphon/contracts";

/**
 * Records for tests of the runtime, which carries bodies and does not read them: only claims and results have
 * the full shape, the others stand for it.
 */
const bodyless = {} as unknown;

function record(type: string, runId: string, taskId: string | null, epoch: number, body: unknown): NewRecord {
  return { type, runId, taskId, epoch, cause: null, body } as NewRecord;
}

export function intentRecord(runId: string): NewRecord {
  return record("intent", runId, null, 0, bodyless);
}

export function dispatchRecord(runId: string, taskId: string, epoch: number, pad = 0): NewRecord {
  return record("dispatch", runId, taskId, epoch, { pad: "x".repeat(pad) });
}

export function claimRecord(runId: string, taskId: string, epoch: number, associate: string): NewRecord {
  const body: ClaimBody = { associate, incarnation: "one" };
  return record("claim", runId, taskId, epoch, body);
}

export function resultRecord(runId: string, taskId: string, epoch: number, body: ResultBody): NewRecord {
  return record("result", runId, taskId, epoch, body);
}
