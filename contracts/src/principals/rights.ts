/** What each principal may do on NATS. */
import { placesOf, type Places } from "./asks.ts";
import type { Principal, Rights } from "./principals.ts";
import { director, gateway, operator, router } from "./trusted-rights.ts";
import { associate, egress, sandboxRunner } from "./working-rights.ts";

/** All principals with limits. */
export type Limited = Exclude<Principal, "admin">;

const RIGHTS: { readonly [P in Limited]: (places: Places) => Rights } = {
  gateway,
  router,
  director,
  associate,
  "sandbox-runner": sandboxRunner,
  egress,
  operator,
};

/** The rights of a principal in a deployment whose journal has this many partitions. `admin` has no limits. */
export const rightsOf = (principal: Limited, partitions: number): Rights =>
  RIGHTS[principal](placesOf(partitions));
