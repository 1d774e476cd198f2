import { runService } from "@antiphon/runtime";
import { readSandboxConfig } from "./config.ts";
import { startSandboxRunner } from "./wiring.ts";

/** Runs the sandbox-runner until it is told to stop. */
export async function main(): Promise<void> {
  await runService({
    name: "sandbox-runner",
    description: "Runs untrusted commands in containers of their own and reports the results",
    start: (context) => startSandboxRunner(context, readSandboxConfig),
  });
}
