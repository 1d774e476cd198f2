/**
 * Why a service refuses a request of another service. A field that it does not know may hold what the caller relies on, such
 * as the services beside a check, so a request of a newer version is not carried out without it: it is told apart from a wrong
 * one, and the caller asks again, perhaps another process.
 */
import { AntiphonError } from "../errors.ts";
import type { SchemaName } from "../registry/registry.ts";
import type { Problem } from "./problem.ts";
import { validate } from "./validate.ts";

/** `errors`: what the strict reader found. */
export function requestProblem(name: SchemaName, value: unknown, errors: readonly Problem[]): AntiphonError {
  const [first] = errors;
  const detail = `${name} ${first?.path ?? ""}: ${first?.message ?? "not a request"}`;
  return new AntiphonError(isNewer(name, value) ? "ANT_RPC_NEWER" : "ANT_CONTRACT_INVALID", detail);
}

function isNewer(name: SchemaName, value: unknown): boolean {
  return validate(name, value, { reader: "tolerant" }).ok;
}
