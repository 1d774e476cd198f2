/**
 * The Director's evidence: a manifest of the checks in the clean room, beside the attempt's own, in KV `ANT_EVIDENCE`
 * under `<run>.<task>.<epoch>.verdict`. The logs are blobs that the sandbox-runner stored.
 */
import {
  canonicalJson,
  digestOf,
  serviceLogs,
  type BlobRef,
  type CheckOutcome,
  type EnvironmentReport,
  type EvidenceManifest,
  type EvidenceRef,
} from "@antiphon/contracts";
import type { Blobs, Kv } from "@antiphon/runtime";
import { INTEGRATION, type TextFile, type VerdictEvidencePort, type VerdictManifest } from "../ports.ts";

type Entry = EvidenceManifest["checks"][number];
type File = EvidenceManifest["files"][number];

export class VerdictEvidence implements VerdictEvidencePort {
  readonly #manifests: Kv;
  readonly #files: Blobs;
  readonly #author: string;

  constructor(manifests: Kv, files: Blobs, author: string) {
    this.#manifests = manifests;
    this.#files = files;
    this.#author = author;
  }

  async patch(ref: BlobRef): Promise<Buffer> {
    return this.#files.get(ref);
  }

  async artifact(ref: BlobRef): Promise<Buffer> {
    return this.#files.get(ref);
  }

  async keep(bytes: Buffer): Promise<BlobRef> {
    return this.#files.put(null, bytes);
  }

  async #textFiles(files: readonly TextFile[]): Promise<File[]> {
    return Promise.all(
      files.map(async ({ path, text }) => ({
        path,
        blob: await this.#files.put(null, Buffer.from(text, "utf8")),
      })),
    );
  }

  async #environmentFiles(report: EnvironmentReport | null): Promise<File[]> {
    if (report === null) return [];
    const { log, packages, egress } = report;
    const text = Buffer.from(`${JSON.stringify(report, null, 2)}\n`, "utf8");
    return [
      { path: "environment/report.json", blob: await this.#files.put(null, text) },
      ...(log === null ? [] : [{ path: "environment/setup.log", blob: log }]),
      ...(packages === null ? [] : [{ path: "provenance/packages.json", blob: packages }]),
      ...(egress?.log == null ? [] : [{ path: "environment/requests.jsonl", blob: egress.log }]),
    ];
  }

  async store(verdict: VerdictManifest): Promise<EvidenceRef> {
    const task = verdict.task ?? INTEGRATION;
    const files = [
      ...(await this.#environmentFiles(verdict.environment ?? null)),
      ...serviceLogs(verdict.services ?? []),
      ...(await this.#textFiles(verdict.files ?? [])),
    ];
    const manifest = manifestOf(verdict, task, this.#author, files);
    const digest = digestOf(new TextEncoder().encode(canonicalJson(manifest)));
    const key = `${verdict.run}.${task}.${verdict.epoch}.verdict`;
    if (await this.#manifests.create(key, manifest)) return { key, digest };
    // Another Director verified the same proposal. Both manifests are kept; the verdict's record names one.
    const own = `${key}.${digest.slice("sha256-".length, "sha256-".length + 12)}`;
    await this.#manifests.create(own, manifest);
    return { key: own, digest };
  }
}

function manifestOf(
  verdict: VerdictManifest,
  task: string,
  author: string,
  more: readonly File[],
): EvidenceManifest {
  const { change, base, hollow, emptied = [], withoutJudges, own } = verdict.trials;
  const folders = [
    ...foldersOf("checks", change),
    ...foldersOf("checks/base", base),
    ...foldersOf("checks/without-its-files", hollow),
    ...foldersOf("checks/without-any-file", emptied),
    ...foldersOf("checks/without-its-judges", withoutJudges),
    ...foldersOf("checks/without-its-sources", own),
  ];
  const entries = folders.flatMap(({ folder, outcomes }) =>
    outcomes.map((outcome, i) => entryOf(outcome, `${folder}/${String(i + 1).padStart(2, "0")}`)),
  );
  return {
    schema_version: 1,
    run_id: verdict.run,
    task_id: task,
    epoch: verdict.epoch,
    author: "director",
    author_id: author,
    decision: verdict.verdict,
    summary: verdict.message,
    base_commit: verdict.head,
    files_changed: [],
    checks: entries.map(({ entry }) => entry),
    files: [...entries.flatMap(({ files }) => files), ...more].sort((a, b) => (a.path < b.path ? -1 : 1)),
  };
}

/** The first trial in the folder itself, each further one below it: `checks/trial-2`. */
function foldersOf(
  folder: string,
  trials: readonly (readonly CheckOutcome[])[],
): { folder: string; outcomes: readonly CheckOutcome[] }[] {
  return trials.map((outcomes, i) => ({ folder: i === 0 ? folder : `${folder}/trial-${i + 1}`, outcomes }));
}

function entryOf(outcome: CheckOutcome, stem: string): { entry: Entry; files: File[] } {
  const stdout = outcome.stdout === null ? null : { path: `${stem}.stdout.txt`, blob: outcome.stdout };
  const stderr = outcome.stderr === null ? null : { path: `${stem}.stderr.txt`, blob: outcome.stderr };
  return {
    entry: {
      command: outcome.command,
      exit_code: outcome.exitCode,
      duration_ms: outcome.durationMs,
      timed_out: outcome.timedOut,
      stdout_path: stdout?.path ?? null,
      stderr_path: stderr?.path ?? null,
    },
    files: [stdout, stderr].filter((file) => file !== null),
  };
}
