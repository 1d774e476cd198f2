// The tenant of an intent: from the caller's identity, if the deployment assigns tenants. Pure.
import { AntiphonError } from "@antiphon/contracts";
import type { Intent } from "@antiphon/contracts";
import type { Tenancy } from "./roles.ts";

/** @throws AntiphonError ANT_GATEWAY_TENANT if the body names another tenant than the caller's */
export function withTenant(intent: Intent, tenancy: Tenancy): Intent {
  if (tenancy.kind === "free") return intent;
  const { tenant: named, ...inputs } = intent.inputs;
  const { tenant } = tenancy;
  if (named !== undefined && named !== tenant) {
    const own = tenant ?? "the default one";
    throw new AntiphonError(
      "ANT_GATEWAY_TENANT",
      `/inputs/tenant: the caller's tenant is ${own}; a request cannot choose another`,
      { data: { path: "/inputs/tenant" } },
    );
  }
  return { ...intent, inputs: tenant === null ? inputs : { ...inputs, tenant } };
}
