// Findings about the gateway, the services that it knows, and the ports of `antiphon dev`.
import { ROLES } from "@antiphon/contracts/roles";
import { authorization, type CliConfig } from "../config.ts";
import { greeting, isFree } from "../dev/loopback-port.ts";
import { http } from "../gateway/http-exchange.ts";
import { gatewayAddress } from "../gateway/local-gateway.ts";
import { off, ok, problem, QUERY_MS, type Finding } from "./finding.ts";

export async function gatewayAndPorts(config: CliConfig): Promise<Finding[]> {
  const headers = authorization(config.token);
  const gatewayUrl = gatewayAddress(config);
  const asked = { method: "GET", headers, timeoutMs: QUERY_MS };
  const answer = await http.exchange(`${gatewayUrl}/services`, asked).catch(() => null);
  const told = answer?.status === 200 ? servicesIn(answer.body.toString()) : null;
  if (told !== null) {
    const { services, storage } = told;
    const names = services.map(({ name }) => name).sort();
    const missing = ROLES.filter((role) => !names.includes(role));
    const present =
      missing.length === 0
        ? ok("services", names.join(", "))
        : problem("services", `missing: ${missing.join(", ")}`, `antiphon serve --role ${missing[0] ?? ""}`);
    // The root of the file system is no repository: only whether the policies can be read is asked.
    const held = await http.exchange(`${gatewayUrl}/policy?repo=/`, asked).catch(() => null);
    return [
      ok("gateway", gatewayUrl),
      present,
      natsUsers(services),
      ...policyFindings(held === null ? null : errorIn(held.body.toString())),
      ...storageFindings(storage),
    ];
  }
  if (answer !== null) return [gatewayProblem(gatewayUrl, answer.status, answer.body.toString())];
  const gateway = off("gateway", `nothing answers at ${gatewayUrl}`, "antiphon dev starts everything");
  return [gateway, await port(3001, "gateway", "--port"), await port(4222, "nats-server", "--nats-port")];
}

/** One user for all is permitted, but then whoever has its token may do everything on NATS. */
function natsUsers(services: readonly Present[]): Finding {
  const shared = services.filter(({ natsUser }) => natsUser === "shared").map(({ name }) => name);
  if (shared.length === 0) return ok("NATS users", "each service has its own");
  const detail = `${[...new Set(shared)].sort().join(", ")} may do everything on NATS`;
  return off("NATS users", detail, "antiphon nats bootstrap creates a user for each service");
}

/** Policies that cannot be read refuse every run. */
export function policyFindings(told: Told | null): Finding[] {
  return told?.code === "ANT_POLICY_INVALID" ? [problem("policy", told.message, told.remedy)] : [];
}

/** Nothing of a gateway of an older release, which does not tell. */
function storageFindings(storage: Storage | null | undefined): Finding[] {
  if (storage === undefined) return [];
  if (storage === null) return [ok("JetStream", "has space for records")];
  return [problem("JetStream", `${storage.code}: ${storage.message}`, storage.remedy)];
}

interface Storage {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}

interface Present {
  readonly name: string;
  readonly natsUser?: string;
}

/** Null: the answer is not from a gateway. */
function servicesIn(text: string): { services: Present[]; storage?: Storage | null } | null {
  try {
    const { services, ...rest } = JSON.parse(text) as { services?: Present[]; storage?: Storage | null };
    return Array.isArray(services) ? { ...rest, services } : null;
  } catch {
    return null; // A page of another program.
  }
}

async function port(number: number, what: string, flag: string): Promise<Finding> {
  if (await isFree(number)) return ok(`port ${number}`, `free for the ${what} of antiphon dev`);
  const holder = (await greeting(number, 300))?.startsWith("INFO ") ? "a nats-server" : "another program";
  return problem(
    `port ${number}`,
    `taken by ${holder}; antiphon dev needs it for the ${what}`,
    `stop it, or: antiphon dev ${flag} 0`,
  );
}

/** A gateway gives code, message and remedy of what it misses, for example NATS. Another program does not. */
export function gatewayProblem(url: string, status: number, body: string): Finding {
  const told = errorIn(body);
  if (told !== null)
    return problem("gateway", `${url} answers ${status} ${told.code}: ${told.message}`, told.remedy);
  const isStranger = status === 200 ? ", but it is not a gateway" : "";
  const remedy = "check ANTIPHON_GATEWAY_URL and ANTIPHON_TOKEN; see the gateway's log";
  return problem("gateway", `${url} answers ${status}${isStranger}`, remedy);
}

export interface Told {
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
