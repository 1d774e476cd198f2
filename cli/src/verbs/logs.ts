// antiphon logs <runId> [-f]: the output of a run's agents and checks.
//
// It reads the output of ended attempts from the evidence. With --follow it also shows live output, which the server does not
// keep. One command therefore serves during a run and after it.
import { BAR } from "../screen/failure-lines.ts";
import { examples, runId } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";

interface LogFlags {
  readonly follow?: boolean;
  readonly json?: boolean;
  readonly transcript?: boolean;
}

/** `checks/1.stdout.txt`, `work/1.stderr.txt`; the other files of a bundle are its documents. */
const IS_LOG = /\.(stdout|stderr)\.txt$/;

/** Shown where nothing else ran: a failed setup ends its task before an attempt and before its checks. */
const IS_SETUP_LOG = /^environment\/setup\.log$/;

const TRANSCRIPT = /^transcript\.(jsonl|json|txt)$/;

export const addLogs: AddVerb = (program, context) => {
  program
    .command("logs")
    .summary("print the output of a run's agents and checks, also after its end")
    .argument("<runId>", "the id of the run", runId)
    .option("-f, --follow", "go on with the live output until the run ends")
    .option("--transcript", "print the transcripts of the run's agents instead: what they did and said")
    .option("--json", "print one JSON object per line")
    .addHelpText(
      "after",
      examples([
        "antiphon logs run_4f0c2k9s0x7d2m1q8z3a",
        "antiphon logs -f run_4f0c2k9s0x7d2m1q8z3a",
        "antiphon logs --transcript run_4f0c2k9s0x7d2m1q8z3a",
      ]),
    )
    .action(async (id: string, flags: LogFlags) => {
      if (flags.transcript === true) return printTranscripts(context, id, flags);
      const files =
        (await printStored(context, id, flags, IS_LOG)) ||
        (await printStored(context, id, flags, IS_SETUP_LOG));
      if (files === 0 && flags.json !== true && flags.follow !== true)
        context.screen.err("no output yet, or no command printed anything");
      if (flags.follow === true) await printLive(context, id, flags);
    });
};

/** Returns how many files it printed. */
async function printStored(
  context: CliContext,
  id: string,
  { json }: LogFlags,
  wanted: RegExp,
): Promise<number> {
  const { filePath } = await import("../evidence/evidence-view.ts");
  const gateway = await context.gateway();
  const { bundles } = await gateway.get("/runs/{id}/evidence", { id });
  let files = 0;
  for (const { taskId, epoch, kind, manifest } of bundles) {
    for (const { path, blob } of manifest.files.filter((file) => wanted.test(file.path))) {
      if (blob.bytes === 0) continue;
      files += 1;
      const bytes = await gateway.bytes(filePath(id, taskId, epoch, path, kind === "verdict"));
      const text = bytes.toString("utf8");
      if (json === true) context.screen.json({ taskId, epoch, kind, path, text });
      else {
        const who = kind === "verdict" ? "clean room" : "attempt";
        context.screen.out(context.screen.colours.dim(`== ${taskId} ${epoch} ${who} ${path}`));
        show(context, text);
      }
    }
  }
  return files;
}

async function printTranscripts(context: CliContext, id: string, { json }: LogFlags): Promise<void> {
  const { filePath } = await import("../evidence/evidence-view.ts");
  const { transcriptLines } = await import("../evidence/transcript-lines.ts");
  const gateway = await context.gateway();
  const { bundles } = await gateway.get("/runs/{id}/evidence", { id });
  const found = bundles.flatMap(({ taskId, epoch, kind, manifest }) =>
    manifest.files.flatMap(({ path }) => {
      const format = kind === "attempt" ? TRANSCRIPT.exec(path)?.[1] : undefined;
      return format === undefined
        ? []
        : [{ taskId, epoch, path, format: format as "jsonl" | "json" | "txt" }];
    }),
  );
  if (found.length === 0 && json !== true)
    context.screen.err("no transcript yet, or the agent's pack names none");
  for (const { taskId, epoch, path, format } of found) {
    const text = (await gateway.bytes(filePath(id, taskId, epoch, path, false))).toString("utf8");
    if (json === true) context.screen.json({ taskId, epoch, path, text });
    else {
      context.screen.out(context.screen.colours.dim(`== ${taskId} ${epoch} attempt ${path}`));
      show(context, transcriptLines(text, format).join("\n"));
    }
  }
}

/** Behind a bar, so that no line of the output passes for one of ours, such as the head of another file. */
function show({ screen }: CliContext, text: string): void {
  screen.text(text.replace(/\r?\n$/, ""), BAR);
}

/** From the records that follow those of the stored output. */
async function printLive(context: CliContext, id: string, { json }: LogFlags): Promise<void> {
  const gateway = await context.gateway();
  const { records } = await gateway.get("/runs/{id}/events", { id });
  if (records.at(-1)?.type === "closed") return;
  const abort = new AbortController();
  const onInterrupt = (): void => abort.abort();
  process.once("SIGINT", onInterrupt);
  try {
    const from = { afterSeq: records.at(-1)?.seq ?? 0, logs: "all", signal: abort.signal } as const;
    for await (const event of gateway.events(id, from)) {
      if (event.kind !== "output" || event.output.stream === "progress") continue;
      const { taskId, epoch, stream, text } = event.output;
      if (json === true) context.screen.json({ taskId, epoch, stream, text });
      else show(context, text);
    }
  } finally {
    process.removeListener("SIGINT", onInterrupt);
  }
  if (abort.signal.aborted) context.setExitCode(130);
}
