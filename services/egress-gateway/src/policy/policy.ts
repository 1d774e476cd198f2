/**
 * The hosts and requests that a sandbox's profile (seed 000) allows. Model hosts take metered calls only, from runs that
 * have a budget.
 *
 * Promises:
 *   egress-gateway/E1 Because a host that no rule names is refused, and a known git or package host keeps its download-only
 *     rules in every profile, putting such a host on an allowlist does not let a sandbox push code or publish a package.
 */
import { CHECKPOINT_HOST, type EgressProfile, type ModelBudget } from "@antiphon/contracts";
import { parseHostName } from "./host-name.ts";
import { EgressRefusal } from "./refusal.ts";
import type { Target } from "./target.ts";

export type HostKind = "git" | "package" | "open" | "model" | "checkpoint";

export interface HostRule {
  /** `example.com`, or `*.example.com` for names below it. */
  readonly host: string;
  readonly kind: HostKind;
  readonly ports: readonly number[];
  /** False: TLS is passed through, so only the host name is checked. */
  readonly terminate: boolean;
}

export interface Policy {
  readonly rules: readonly HostRule[];
}

const WEB_PORTS = [443, 80];

/** Answered by the gateway itself, in every profile (checkpoints/checkpoint-exchange.ts). */
export const CHECKPOINTS: HostRule = {
  host: CHECKPOINT_HOST,
  kind: "checkpoint",
  ports: WEB_PORTS,
  terminate: true,
};
const CHECKPOINT_PATHS = ["/state", "/tree"];

/** `known`: the deployment's rules for hosts, most specific first. Throws for an invalid allowlist entry. */
export function compilePolicy(
  profile: { readonly [K in keyof EgressProfile]?: EgressProfile[K] | undefined },
  budget: ModelBudget | null,
  known: readonly HostRule[],
): Policy {
  const mode = profile.mode ?? "git+pkg";
  if (mode === "none") return { rules: [] };
  const named = (profile.allowlist ?? []).map(parseEntry);
  const own = mode === "git+pkg" ? known.filter(({ kind }) => kind === "git" || kind === "package") : [];
  const models = budget === null ? [] : known.filter(({ kind }) => kind === "model");
  const kept = named.map((rule) => {
    const fact = known.find((one) => matches(one.host, rule.host));
    return fact === undefined ? rule : { ...rule, kind: fact.kind, terminate: fact.terminate }; // egress-gateway/E1
  });
  return { rules: [...models, ...own, ...kept] };
}

/** `host`, `*.host` or either with `:port`. */
export function parseEntry(entry: string): HostRule {
  const match = /^(\*\.)?([^:]+)(?::(\d{1,5}))?$/.exec(entry);
  if (match === null)
    throw new EgressRefusal("ANT_EGRESS_HOST", "allowlist:syntax", `not a host: ${JSON.stringify(entry)}`);
  const [, star = "", name = "", port] = match;
  const host = `${star}${parseHostName(name)}`;
  return { host, kind: "open", ports: port === undefined ? WEB_PORTS : [Number(port)], terminate: true };
}

/** The rule that applies to a host. Throws ANT_EGRESS_HOST when there is none. */
export function ruleFor(policy: Policy, host: string, port: number, known: readonly HostRule[]): HostRule {
  const rule = policy.rules.find((one) => matches(one.host, host));
  if (rule === undefined) {
    throw new EgressRefusal("ANT_EGRESS_HOST", "host:none", `${host} is not among the hosts of this sandbox`); // egress-gateway/E1
  }
  if (!rule.ports.includes(port))
    throw new EgressRefusal(
      "ANT_EGRESS_HOST",
      "host:port",
      `${host} may be reached at ${rule.ports.join(", ")}`,
    );
  // egress-gateway/E1: a wildcard of the allowlist may cover a known host.
  const fact = known.find((one) => matches(one.host, host));
  return fact === undefined ? rule : { ...rule, kind: fact.kind, terminate: fact.terminate };
}

export function matches(pattern: string, host: string): boolean {
  return pattern.startsWith("*.")
    ? host.endsWith(pattern.slice(1)) && host !== pattern.slice(2)
    : pattern === host;
}

export interface Asked {
  readonly target: Target;
  readonly method: string;
  /** True when the headers announce a body. */
  readonly body: boolean;
  readonly contentType: string;
}

const OPEN_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const GIT_PATH = /^(\/[A-Za-z0-9._~@+-]+)+\/(info\/refs|git-upload-pack)$/;

/** The name of the rule that allows the request. Throws ANT_EGRESS_METHOD when none does. */
export function passRule(rule: HostRule, asked: Asked): string {
  switch (rule.kind) {
    case "git":
      return gitRule(asked);
    case "package":
      if ((asked.method === "GET" || asked.method === "HEAD") && !asked.body) return "package:download"; // egress-gateway/E1
      throw refused("package:publish", `${asked.method} is not a download`);
    case "model":
      return "model:call"; // model-call.ts has the rules
    case "checkpoint":
      if (!CHECKPOINT_PATHS.includes(asked.target.path) || asked.target.query !== null)
        throw refused("checkpoint:path", `there is no ${asked.target.path}`);
      if (asked.method === "GET" || asked.method === "PUT") return "checkpoint";
      throw refused("checkpoint:method", `${asked.method} is no way to leave or read a checkpoint`);
    case "open":
      if (OPEN_METHODS.includes(asked.method)) return "allowlist";
      throw refused("allowlist:method", `${asked.method} is not an allowed method`);
  }
}

function gitRule({ target, method, body, contentType }: Asked): string {
  const service = GIT_PATH.exec(target.path)?.[2];
  if (method === "GET" && service === "info/refs" && target.query === "service=git-upload-pack" && !body)
    return "git:fetch";
  const isPack = contentType === "application/x-git-upload-pack-request";
  if (method === "POST" && service === "git-upload-pack" && target.query === null && isPack)
    return "git:fetch";
  const isPush = /receive-pack/.test(`${target.path}?${target.query ?? ""}`);
  throw refused(
    isPush ? "git:push" : "git:other",
    isPush ? "pushing is not allowed" : `${method} ${target.path} is not a git fetch`,
  ); // egress-gateway/E1
}

function refused(rule: string, why: string): EgressRefusal {
  return new EgressRefusal("ANT_EGRESS_METHOD", rule, why);
}
