/**
 * The table of roles: one service each, in the order in which `antiphon dev` stops them, so that each stops before the
 * services it depends on. It is JSON, because the build scripts read it without a TypeScript loader. `folder` is below
 * `services/`; `git` says whether the service's image needs git.
 */
import table from "./roles.json" with { type: "json" };

export const ROLES: readonly string[] = table.map(({ role }) => role);
