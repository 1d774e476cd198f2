/** What the container engine itself says about a run. */
import { run } from "./program.ts";

/** Ids of the containers, running or not, that carry the run's label. */
export async function dockerContainers(runId: string): Promise<string[]> {
  const { code, stdout, stderr } = await run("docker", ["ps", "--all", "--quiet", "--filter", `label=antiphon.run=${runId}`]);
  if (code !== 0) throw new Error(`docker ps: ${stderr}`);
  return stdout.split("\n").filter((id) => id !== "");
}
