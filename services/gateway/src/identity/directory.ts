// The roles and tenants of callers with local tokens: ANTIPHON_ROLES and ANTIPHON_TENANTS. Pure.
import type { Identity, Role, Tenancy } from "./roles.ts";

export interface Directory {
  /** Null: the deployment assigns no roles, so everybody with a token may do everything. */
  readonly roles: ReadonlyMap<string, readonly Role[]> | null;
  readonly tenants: ReadonlyMap<string, string>;
}

export const OPEN_DIRECTORY: Directory = { roles: null, tenants: new Map() };

/** The deployment's own token opens everything. A person without a row may look. */
export function identityOf(principal: string, { roles, tenants }: Directory): Identity {
  const isDeployment = principal === "token" || principal === "local";
  const held: readonly Role[] =
    roles === null || isDeployment ? ["admin"] : (roles.get(principal) ?? ["viewer"]);
  const free = tenants.size === 0 || isDeployment;
  const tenancy: Tenancy = free
    ? { kind: "free" }
    : { kind: "assigned", tenant: tenants.get(principal) ?? null };
  return { principal, roles: held, tenancy };
}
