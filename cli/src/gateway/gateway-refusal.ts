// Turns a failed call to the gateway into a coded failure: the gateway refused, or it was unreachable.
import { Failure } from "../failure.ts";

/** A proxy answers with these while its gateway is down. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504]);

const NOT_A_GATEWAY =
  "Another program answers there, so the address is not that of a gateway: correct ANTIPHON_GATEWAY_URL. Without this variable, the commands use the services of this machine (`antiphon dev`).";

/** The gateway's own error, or a failure that says another program answered. */
export function refusal(url: string, httpStatus: number, body: string): Failure {
  const error = parseError(body);
  if (error === null) {
    const message = `${url} answered ${httpStatus} without an Antiphon error; is it the gateway?`;
    const details = AWAY.has(httpStatus)
      ? { data: { httpStatus, away: true } }
      : { data: { httpStatus }, remedy: NOT_A_GATEWAY };
    return new Failure("ANT_GATEWAY_UNREACHABLE", message, details);
  }
  const { code, message, remedy, ...data } = error;
  return new Failure(code, message, { remedy, data: { ...data, httpStatus } });
}

/** Another program listens there: the answer is not JSON. */
export function stranger(url: string, httpStatus: number, cause: unknown): Failure {
  return new Failure("ANT_GATEWAY_UNREACHABLE", `${url} answered without JSON; is it the gateway?`, {
    remedy: NOT_A_GATEWAY,
    data: { httpStatus },
    cause,
  });
}

const NOBODY: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH"]);

/** `acts`: the request does something, so it matters whether it was carried out. `lost`: it may have been. `away`: a retry may help. */
export function unreachable(url: string, { acts }: { readonly acts: boolean }, error: unknown): Failure {
  const code = (error as { code?: string }).code ?? "";
  if (NOBODY.has(code)) {
    const data = { lost: false };
    return new Failure("ANT_GATEWAY_UNREACHABLE", `no gateway answers at ${url}`, { cause: error, data });
  }
  const silent = code === "ETIMEDOUT";
  const why = silent ? "did not answer in time" : "closed the connection without an answer";
  const done = acts ? "; the request may have been carried out" : "";
  return new Failure("ANT_GATEWAY_UNREACHABLE", `${url} ${why}${done}`, {
    remedy: acts
      ? "Check whether it was (`antiphon runs`, `antiphon get <runId>`) before you try again. If it keeps failing, check that ANTIPHON_GATEWAY_URL names the gateway."
      : "It may be restarting: try again. If that does not help, check that ANTIPHON_GATEWAY_URL names the gateway, and read the gateway's log.",
    cause: error,
    data: { lost: true, ...(silent ? {} : { away: true }) },
  });
}

function parseError(text: string): { code: string; message: string; remedy: string } | null {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: unknown; remedy?: unknown } };
    if (typeof error?.code !== "string" || typeof error.message !== "string") return null;
    const remedy = typeof error.remedy === "string" ? error.remedy : "";
    return { ...error, code: error.code, message: error.message, remedy };
  } catch {
    return null; // Not JSON, so not from the gateway.
  }
}

export function isOk(status: number): boolean {
  return status >= 200 && status < 300;
}
