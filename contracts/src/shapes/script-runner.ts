/**
 * The package manager that runs the scripts of a package.json, by the lock file beside it. Pure. Another one may refuse to run in the
 * repository, or lack the packages of the setup.
 */
export const SCRIPT_LOCKS = ["pnpm-lock.yaml", "yarn.lock"] as const;

export function scriptRunner(has: (file: string) => boolean): "pnpm" | "yarn" | "npm" {
  if (has("pnpm-lock.yaml")) return "pnpm";
  return has("yarn.lock") ? "yarn" : "npm";
}
