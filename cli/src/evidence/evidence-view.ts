// Shows evidence: the bundles of a run, or the bytes of one file.
import { urlOf, type EvidenceBundle } from "@antiphon/client";
import type { CliContext } from "../context.ts";
import { nothingOf } from "./nothing-found.ts";
import { firstLine, short } from "../screen/short-forms.ts";
import { bytes, duration } from "../screen/table.ts";

/** "attempt": written by the Associate. "verdict": written by the clean room. */
export type Bundle = EvidenceBundle;

export function filePath(
  id: string,
  task: string,
  epoch: number | string,
  path: string,
  verdict: boolean,
): string {
  const at = { id, task, epoch, path, ...(verdict ? { kind: "verdict" } : {}) };
  return urlOf("/runs/{id}/evidence/{task}/{epoch}/files/{path}", at);
}

export async function showFile(
  context: CliContext,
  {
    id,
    task,
    epoch,
    file,
    verdict,
  }: { id: string; task: string; epoch: string; file: string; verdict: boolean },
): Promise<void> {
  const gateway = await context.gateway();
  context.screen.document(await gateway.bytes(filePath(id, task, epoch, file, verdict)));
}

export async function showBundles(
  context: CliContext,
  { id, task, epoch, json }: { id: string; task: string | null; epoch: string | null; json: boolean },
): Promise<void> {
  const gateway = await context.gateway();
  const { bundles } = await gateway.get("/runs/{id}/evidence", { id });
  const chosen = bundles.filter(
    (bundle) =>
      (task === null || bundle.taskId.toLowerCase() === task.toLowerCase()) &&
      (epoch === null || String(bundle.epoch) === epoch),
  );
  if (json) return context.screen.json({ runId: id, bundles: chosen });
  if (chosen.length === 0) {
    if (task === null) return context.screen.out("no evidence yet");
    throw await nothingOf(gateway, id, task, epoch === null ? "evidence" : `evidence of attempt ${epoch}`);
  }
  for (const bundle of chosen) printBundle(context, id, bundle);
}

function printBundle({ screen }: CliContext, id: string, bundle: Bundle): void {
  const { manifest } = bundle;
  const who = bundle.kind === "verdict" ? "clean room" : `attempt by ${manifest.author_id}`;
  screen.out(
    `${screen.colours.bold(`${bundle.taskId} ${bundle.epoch}`)}  ${who}: ${manifest.decision}  ${firstLine(manifest.summary)}`,
  );
  if (manifest.base_commit !== null) screen.out(`  base     ${short(manifest.base_commit)}`);
  for (const file of manifest.files_changed) screen.out(`  changed  ${file}`);
  for (const check of manifest.checks) {
    const end = check.timed_out ? "timed out" : `exit ${check.exit_code ?? "none"}`;
    screen.out(`  check    ${firstLine(check.command)}: ${end} after ${duration(check.duration_ms)}`);
  }
  for (const file of manifest.files) screen.out(`  file     ${file.path}  ${bytes(file.blob.bytes)}`);
  const verdict = bundle.kind === "verdict" ? " --verdict" : "";
  screen.out(
    screen.colours.dim(
      `  print a file: antiphon evidence get ${id} ${bundle.taskId} ${bundle.epoch} <file>${verdict}`,
    ),
  );
}
