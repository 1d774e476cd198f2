// How a failed call to the gateway becomes a failure with a code: it said no, or it was not there.
import { Failure } from "./failure.ts";

/** The gateway's own words, or what can be said when something else answered. */
export async function refusal(response: Response): Promise<Failure> {
  const error = parseError(await response.text());
  const { status: httpStatus, url } = response;
  if (error === null) {
    const message = `${url} answered ${httpStatus} without an Antiphon error; is it the gateway?`;
    return new Failure("ANT_GATEWAY_UNREACHABLE", message, { data: { httpStatus } });
  }
  const { code, message, remedy, ...data } = error;
  return new Failure(code, message, { remedy, data: { ...data, httpStatus } });
}

/** `lost`: somebody was there, so what was asked for may have been done. */
export function unreachable(url: string, error: unknown): Failure {
  const code = (error as { cause?: { code?: string } }).cause?.code ?? "";
  const nobody = code === "ECONNREFUSED" || code === "ENOTFOUND";
  const why = nobody ? "no gateway answers" : "the gateway did not answer";
  return new Failure("ANT_GATEWAY_UNREACHABLE", `${why} at ${url}`, {
    cause: error,
    data: { lost: !nobody },
  });
}

function parseError(text: string): { code: string; message: string; remedy: string } | null {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: unknown; remedy?: unknown } };
    if (typeof error?.code !== "string" || typeof error.message !== "string") return null;
    const remedy = typeof error.remedy === "string" ? error.remedy : "";
    return { ...error, code: error.code, message: error.message, remedy };
  } catch {
    return null; // Not JSON: not one of our gateways.
  }
}
