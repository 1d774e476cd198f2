/** Queries the container engine about a run. */
import { run } from "./program.ts";

/** Names of a run's containers, running or not; the sandbox-runner names each after its job. */
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

/** Those of its attempts. A container in which its checks run on the base may be beside them, because nothing waits for it. */
export async function attemptContainers(runId: string): Promise<string[]> {
  return (await dockerContainers(runId)).filter((name) => name.includes("-attempt-"));
}

/** The command lines of the processes in a run's containers. */
export async function processesOf(runId: string): Promise<string> {
  const names = await dockerContainers(runId);
  const tops = await Promise.all(names.map((name) => run("docker", ["top", name, "-eo", "pid,args"])));
  return tops.map(({ stdout }) => stdout).join("\n");
}
