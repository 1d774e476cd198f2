/** Prometheus' own checks of configuration, rules and exposed metrics. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** What promtool says about a fault; empty if it finds none. */
export function promtoolFaults(args: readonly string[], stdin = ""): string {
  const own = join(ROOT, ".antiphon/tools/promtool");
  const program = existsSync(own) ? own : "promtool";
  const ended = spawnSync(program, [...args], { input: stdin, encoding: "utf8", cwd: ROOT });
  if (ended.error !== undefined)
    throw new Error("promtool is missing: npm run setup -- --with-promtool", { cause: ended.error });
  if (ended.status === 0) return "";
  return `${ended.stdout}${ended.stderr}`.trim() || `exit code ${ended.status}`;
}
