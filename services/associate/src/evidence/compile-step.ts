/** The file in which an agent that compiles leaves its answer, and the step that prints it after the work. Pure. */
import type { SandboxStep } from "@antiphon/contracts";

export const COMPILE_FILE = "/tmp/antiphon-compile.json";
export const COMPILE_STEP = "compile";
const SCRIPT = '[ -f "$1" ] && cat -- "$1"';

export function compileStep(env: Readonly<Record<string, string>>, timeoutMs: number): SandboxStep {
  const argv = ["sh", "-c", SCRIPT, "sh", COMPILE_FILE];
  return { id: COMPILE_STEP, argv, env: { ...env }, timeoutMs, continueOnFailure: true, quiet: true };
}
