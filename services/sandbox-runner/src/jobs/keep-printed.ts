/** Keeps the output of a command up to its question. When the command ends, its whole output is kept as that of any other. */
import type { SandboxStepOutcome } from "@antiphon/contracts";
import type { PartialOutput } from "../ports.ts";
import type { JobPorts } from "./job-ports.ts";

/** Null: it cannot be stored. */
export async function keepPrinted(
  id: string,
  soFar: () => PartialOutput | null,
  { evidence, progress }: Pick<JobPorts, "evidence" | "progress">,
): Promise<SandboxStepOutcome | null> {
  try {
    const printed = soFar();
    return printed === null ? null : await evidence.step({ id, exitCode: null, timedOut: false, ...printed });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    progress(`the output at the question is not kept: ${why}`);
    return null;
  }
}
