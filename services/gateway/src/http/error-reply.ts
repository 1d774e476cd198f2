// Turns every failure into an HTTP answer: a problem document of RFC 9457. Pure.
import { AntiphonError, ERRORS } from "@antiphon/contracts";

export const PROBLEM_TYPE = "application/problem+json";

/**
 * `type`, `title`, `status` and `detail` are those of RFC 9457. `code`, `remedy` and the details of the error (`path`,
 * `profile`, `rule`, `value`, ...) stand beside them, and once more in `error`, which older clients read.
 */
export interface ProblemDocument {
  /** A name, not an address: `urn:antiphon:error:<code>`. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly remedy: string;
  readonly error: Readonly<Record<string, unknown>>;
}

export interface ErrorReply {
  readonly status: number;
  readonly body: ProblemDocument;
  /** Seconds; null if a retry makes no sense. */
  readonly retryAfterS: number | null;
}

const RETRY_STATUSES = new Set([429, 503]);
const RETRY_AFTER_S = 1;

export function errorReply(thrown: unknown): ErrorReply {
  const error = nameOf(thrown);
  // The message of an internal error may contain paths and addresses: it goes to the log, and the caller gets the code.
  const message = error.code === "ANT_INTERNAL" ? "something went wrong inside the gateway" : error.detail;
  const status = error.httpStatus < 400 ? 500 : error.httpStatus;
  const { code, remedy, data } = error;
  return {
    status,
    body: {
      ...data,
      type: `urn:antiphon:error:${code}`,
      title: ERRORS[code].meaning,
      ...{ status, detail: message, code, remedy },
      error: { code, message, remedy, ...data },
    },
    retryAfterS: RETRY_STATUSES.has(error.httpStatus) ? retryAfterS(error) : null,
  };
}

function retryAfterS({ data }: AntiphonError): number {
  return typeof data.retryAfterS === "number" ? data.retryAfterS : RETRY_AFTER_S;
}

/** Maps Fastify's own refusals by their codes. */
export function nameOf(thrown: unknown): AntiphonError {
  if (thrown instanceof AntiphonError) return thrown;
  const { code, message } = (thrown ?? {}) as Record<string, unknown>;
  const detail = typeof message === "string" ? message : "";
  switch (code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new AntiphonError("ANT_GATEWAY_BODY_TOO_LARGE", "the request body is larger than 1 MiB", {
        cause: thrown,
      });
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new AntiphonError(
        "ANT_GATEWAY_BODY",
        "the body must be sent as content-type: application/json",
        { cause: thrown },
      );
    case "FST_ERR_BAD_URL":
    case "FST_ERR_ASYNC_CONSTRAINT":
    case "FST_ERR_MAX_PARAM_LENGTH":
      return new AntiphonError("ANT_GATEWAY_ROUTE", detail, { cause: thrown });
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new AntiphonError("ANT_GATEWAY_BODY", detail, { cause: thrown });
    default:
      return isRefusal(thrown)
        ? new AntiphonError("ANT_GATEWAY_REQUEST", detail, { cause: thrown })
        : AntiphonError.from(thrown);
  }
}

/** One of Fastify's codes with a 4xx: the request is at fault. */
function isRefusal(thrown: unknown): boolean {
  const { code, statusCode = 500 } = (thrown ?? {}) as { code?: unknown; statusCode?: number };
  return typeof code === "string" && code.startsWith("FST_ERR_") && statusCode >= 400 && statusCode < 500;
}
