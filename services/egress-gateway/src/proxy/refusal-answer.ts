/** A refusal as the answer to a request. */
import type { ServerResponse } from "node:http";
import { AntiphonError, ERRORS } from "@antiphon/contracts";
import { EgressRefusal } from "../policy/refusal.ts";

export function asRefusal(error: unknown, signal: AbortSignal): EgressRefusal {
  if (error instanceof EgressRefusal) return error;
  if (signal.reason instanceof EgressRefusal) return signal.reason;
  if (signal.aborted)
    return new EgressRefusal("ANT_EGRESS_TIMEOUT", "client:gone", "the sandbox closed the connection");
  const { code, message } = error as NodeJS.ErrnoException;
  const why = error instanceof AntiphonError ? error.detail : (code ?? message);
  return new EgressRefusal("ANT_EGRESS_UPSTREAM", "upstream:failed", why);
}

/** The JSON body of a refusal, for the program in the sandbox. */
export function refusalBody(fault: EgressRefusal): string {
  const { code, rule, message } = fault;
  return `${JSON.stringify({ code, rule, message, remedy: ERRORS[code].remedy })}\n`;
}

/** False: it is too late for another answer, so the connection is cut. */
export function sendRefusal(response: ServerResponse, fault: EgressRefusal): boolean {
  if (response.headersSent || response.destroyed || response.req.socket.destroyed) {
    response.destroy();
    return false;
  }
  response.writeHead(fault.status, fault.code, {
    "content-type": "application/json",
    "antiphon-code": fault.code,
    connection: "close",
  });
  response.end(refusalBody(fault));
  return true;
}
