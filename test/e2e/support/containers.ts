/** What the container engine itself says about a run. */
import { run } from "./program.ts";

/** Names of the containers, running or not, that work for a run: the runner names each after its job. */
export async function dockerContainers(runId: string): Promise<string[]> {
  const { code, stdout, stderr } = await run("docker", [
    "ps",
    "--all",
    "--format",
    "{{.Names}}",
    "--filter",
    `name=${runId.replace("run_", "")}`,
  ]);
  if (code !== 0) throw new Error(`docker ps: ${stderr}`);
  return stdout.split("\n").filter((name) => name !== "");
}
