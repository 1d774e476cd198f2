// The one place where a failure becomes an HTTP answer. Pure.
import { AntiphonError } from "@antiphon/contracts";

export interface ErrorReply {
  readonly status: number;
  readonly body: { readonly error: Record<string, unknown> };
  /** Seconds; set when trying again later makes sense. */
  readonly retryAfterS: number | null;
}

const RETRY_STATUSES = new Set([429, 503]);
const RETRY_AFTER_S = 1;

export function errorReply(thrown: unknown): ErrorReply {
  const error = nameOf(thrown);
  // A fault of ours may carry paths and addresses in its message: the log has it, the caller gets the code.
  const message = error.code === "ANT_INTERNAL" ? "something went wrong inside the gateway" : error.detail;
  return {
    status: error.httpStatus < 400 ? 500 : error.httpStatus,
    body: { error: { code: error.code, message, remedy: error.remedy, ...error.data } },
    retryAfterS: RETRY_STATUSES.has(error.httpStatus) ? retryAfterS(error) : null,
  };
}

function retryAfterS({ data }: AntiphonError): number {
  return typeof data.retryAfterS === "number" ? data.retryAfterS : RETRY_AFTER_S;
}

/** Fastify's own refusals, by its codes. */
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

/** Fastify blames the request: one of its codes, with a 4xx. */
function isRefusal(thrown: unknown): boolean {
  const { code, statusCode = 500 } = (thrown ?? {}) as { code?: unknown; statusCode?: number };
  return typeof code === "string" && code.startsWith("FST_ERR_") && statusCode >= 400 && statusCode < 500;
}
