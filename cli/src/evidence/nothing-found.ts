// Says why a run has no such evidence: it has no such task, it is still open, or it ended without any.
import { Failure } from "../failure.ts";
import type { GatewayClient } from "../gateway/gateway-client.ts";

export async function nothingOf(
  gateway: GatewayClient,
  id: string,
  task: string | null,
  what: string,
): Promise<Failure> {
  const { status, steps } = await gateway.get("/runs/{id}", { id });
  const ids = steps.map((step) => step.id);
  const isTask = task === null || ids.some((one) => one.toLowerCase() === task.toLowerCase());
  if (!isTask)
    return new Failure(
      "ANT_EVIDENCE_NOT_FOUND",
      `${id} has no task ${task}; it has ${ids.join(", ") || "none yet"}`,
    );
  const whose = task === null ? id : `${task} of ${id}`;
  const isOver = status === "succeeded" || status === "failed" || status === "canceled";
  const message = isOver
    ? `${whose} left no ${what}: the run ${status === "canceled" ? "was canceled" : status}`
    : `${whose} has no ${what} yet`;
  return new Failure("ANT_EVIDENCE_NOT_FOUND", message, {
    remedy: isOver
      ? `\`antiphon get ${id}\` shows how it ended.`
      : `\`antiphon wait ${id}\` waits for its end.`,
  });
}
