/**
 * The model call of an attempt that the egress gateway refused for a reason that lasts: no price, no key, no budget, or a host
 * that the gateway does not know. If nothing got through, another attempt of the same agent would meet the same. Pure.
 */
import { isErrorCode } from "@antiphon/contracts";
import type { AgentSpec, EgressReport, ErrorCode } from "@antiphon/contracts";

export interface RefusedCall {
  readonly what: "model call" | "request";
  readonly code: ErrorCode;
  readonly why: string;
  /** True: nothing got through that may have been a model, and no fault that passes kept it from one. */
  readonly isHopeless: boolean;
}

type Traffic = Pick<EgressReport, "model_calls" | "model_refused" | "hosts_refused" | "reached">;

export function refusedCallOf(traffic: Traffic | null, agent: AgentSpec): RefusedCall | null {
  if (traffic === null) return null;
  const isHopeless = traffic.model_calls === 0 && traffic.reached === undefined;
  const told = traffic.model_refused === undefined ? null : reasonIn(traffic.model_refused);
  if (told !== null) return { what: "model call", ...told, isHopeless };
  const refused = traffic.hosts_refused ?? [];
  const host = agent.kind === "pack" ? agent.model?.host.toLowerCase() : undefined;
  if (host !== undefined && refused.includes(host)) {
    const why = `the egress gateway has no model host ${host}`;
    return { what: "model call", code: "ANT_EGRESS_HOST", why, isHopeless };
  }
  // The hosts of a pack's own errands, such as its statistics, are no reason for its failure.
  if (agent.kind === "pack" || refused.length === 0) return null;
  return {
    what: "request",
    code: "ANT_EGRESS_HOST",
    why: `${refused.join(", ")} may not be reached from its sandbox`,
    isHopeless: false,
  };
}

/** `<code>: <reason>`, as the report of the egress gateway has it. */
function reasonIn(text: string): { code: ErrorCode; why: string } | null {
  const at = text.indexOf(": ");
  const code = text.slice(0, at);
  return isErrorCode(code) ? { code, why: text.slice(at + 2) } : null;
}
