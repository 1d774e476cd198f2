/**
 * Changes that are carried out: cheats that the policy lets pass, or might, and honest changes near them, each with the
 * code of its verdict, or PASS. A cheat that is called undecided passes, and SECURITY.md says so. `npx tsx
 * test/cheats/carry-out.ts` prints the table.
 */
import type { Carried } from "./carried.ts";
import { CARRIED_HONEST } from "./carried-honest.ts";
import { CARRIED_LOADED } from "./carried-loaded.ts";
import { CARRIED_NODE } from "./carried-node.ts";
import { CARRIED_ORACLES } from "./carried-oracles.ts";
import { CARRIED_OTHERS } from "./carried-others.ts";
import { CARRIED_PRODUCTS } from "./carried-products.ts";
import { CARRIED_PYTHON } from "./carried-python.ts";
import { CARRIED_UNUSED } from "./carried-unused.ts";
import { CARRIED_VARIABLES } from "./carried-variables.ts";
import { CARRIED_WHEREABOUTS } from "./carried-whereabouts.ts";

export const CARRIED: readonly Carried[] = [
  ...CARRIED_NODE,
  ...CARRIED_PYTHON,
  ...CARRIED_OTHERS,
  ...CARRIED_WHEREABOUTS,
  ...CARRIED_VARIABLES,
  ...CARRIED_LOADED,
  ...CARRIED_HONEST,
  ...CARRIED_UNUSED,
  ...CARRIED_PRODUCTS,
  ...CARRIED_ORACLES,
];
