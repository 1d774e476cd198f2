// What an answer of the gateway other than the list of services means.
import type { Finding } from "./diagnosis.ts";

/** A gateway gives code, message and remedy of what it misses, for example NATS. Another program does not. */
export function gatewayProblem(url: string, status: number, body: string): Finding {
  const told = errorIn(body);
  if (told !== null) {
    const { code, message, remedy } = told;
    return {
      name: "gateway",
      state: "problem",
      detail: `${url} answers ${status} ${code}: ${message}`,
      remedy,
    };
  }
  const isStranger = status === 200 ? ", but it is not a gateway" : "";
  return {
    name: "gateway",
    state: "problem",
    detail: `${url} answers ${status}${isStranger}`,
    remedy: "check ANTIPHON_GATEWAY_URL and ANTIPHON_TOKEN; see the gateway's log",
  };
}

interface Told {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}

function errorIn(body: string): Told | null {
  try {
    const { error } = JSON.parse(body) as { error?: Partial<Told> };
    const { code, message = "", remedy = "" } = error ?? {};
    return typeof code === "string" && remedy !== "" ? { code, message, remedy } : null;
  } catch {
    return null;
  }
}
