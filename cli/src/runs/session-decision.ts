// Decides about a `RequestApproval` of a session: the one that is named, or the only one that waits.
import type { WaitingApproval } from "@antiphon/client";
import { Failure } from "../failure.ts";
import type { GatewayClient } from "../gateway/gateway-client.ts";

const SESSION_ID = /^ses_[a-z0-9]{1,32}$/;

export const isSessionId = (text: string): boolean => SESSION_ID.test(text);

/** @throws Failure ANT_SESSION_NOT_WAITING, or ANT_USAGE if several wait and none is named */
export async function waitingRequest(
  gateway: Pick<GatewayClient, "get">,
  session: string,
  named: string | undefined,
): Promise<WaitingApproval> {
  const { approvals } = await gateway.get("/sessions/{id}/approvals", { id: session });
  const found = named === undefined ? approvals : approvals.filter(({ commandId }) => commandId === named);
  const [one] = found;
  if (one === undefined) {
    const what = named === undefined ? "no request" : `no request ${named}`;
    throw new Failure("ANT_SESSION_NOT_WAITING", `${what} for approval waits in ${session}`);
  }
  if (found.length === 1) return one;
  const ids = found.map(({ commandId }) => commandId).join(", ");
  throw new Failure("ANT_USAGE", `${session} waits for decisions about ${ids}`, {
    remedy: "name one of them with --request",
  });
}
