/** Runs one command of a job and notes its end, also when the sandbox dies under it. */
import { MAX_OUTPUT_BYTES } from "../job-limits.ts";
import { SandboxDied, type PartialOutput } from "../ports.ts";
import { endingOfDeath, endingOfExit } from "./ending.ts";
import type { PlannedStep } from "./job-plan.ts";
import type { LeasedJob } from "./leased-job.ts";
import { keepPrinted } from "./keep-printed.ts";

/** A PATH of the run comes before that of the image, without which a command would find no shell. */
function searchPath(
  { PATH: own }: Readonly<Record<string, string>>,
  { PATH: usual = "" }: Readonly<Record<string, string>>,
): { PATH?: string } {
  if (own === undefined) return {};
  const places = own.split(":").filter((place) => place !== "");
  return { PATH: [...new Set([...places, ...usual.split(":")])].join(":") };
}

export async function runStep(step: PlannedStep, job: LeasedJob): Promise<void> {
  const { request, ports, emit, progress, plan, lease, variables, link, asking, inbox, halt } = job;
  const { id, argv, cwd } = step;
  progress.step = id;
  await progress.roomInStore();
  const env = { ...variables, ...link?.env, ...step.env, ...searchPath(step.env, variables) };
  const path = step.asks === true ? await asking.pathFor(env) : null;
  if (path !== null) inbox.open();
  const now = performance.now();
  const { keepBytes } = plan.limits;
  const waitedBefore = asking.end();
  job.endsAt ??= now + request.budgetMs;
  try {
    const exit = await lease.sandbox.run({
      argv,
      cwd,
      env: path === null ? env : { ...env, PATH: path },
      stdin: step.stdin === undefined ? null : Buffer.from(step.stdin, "utf8"),
      timeoutMs: Math.min(step.timeoutMs, Math.max(1, job.endsAt - now)),
      ...(step.isCollected ? { timeoutEnds: "command" as const } : {}),
      signal: halt,
      ...(path === null
        ? {}
        : {
            onQuestion: (text: string, soFar: () => PartialOutput | null) =>
              asking.ask(text, () => keepPrinted(id, soFar, ports)),
          }),
      onHeard: (heard) => {
        if (inbox.read(heard)) ports.progress(`the agent has read message ${heard.number}`);
      },
      keepBytes,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      onOutput: (stream, piece) => (step.quiet === true ? undefined : ports.onOutput(stream, piece)),
    });
    const { timedOut, durationMs, stdout, stderr } = exit;
    const exitCode = timedOut || (halt.aborted && exit.signal > 0) ? null : exit.exitCode;
    progress.keep(ports.evidence.step({ id, exitCode, timedOut, durationMs, stdout, stderr }));
    if (exitCode !== null) progress.exits.push(exitCode);
    emit({ kind: "step", id, exitCode });
    const ending = timedOut ? endingOfDeath({ kind: "timeout" }, id) : endingOfExit(exit, id);
    progress.ending = ending ?? progress.ending;
    job.stopped = exitCode !== 0 && !step.continueOnFailure;
  } catch (error) {
    if (error instanceof SandboxDied && error.partial !== null) {
      const timedOut = error.death.kind === "timeout";
      progress.keep(ports.evidence.step({ id, exitCode: null, timedOut, ...error.partial }));
    }
    emit({ kind: "step", id, exitCode: null });
    throw error;
  } finally {
    inbox.close();
    job.endsAt += asking.end() - waitedBefore;
  }
}
