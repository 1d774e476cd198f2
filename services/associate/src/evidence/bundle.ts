/**
 * The evidence bundle of an attempt (seed 001), as a list of files: `diff.patch`, `checks/<n>.stdout.txt`,
 * `work/<n>.stdout.txt`, `provenance/*`. Pure: evidence-store.ts stores the files.
 */
import {
  serviceLogs,
  type BlobRef,
  type EgressReport,
  type EnvironmentReport,
  type EvidenceCheck,
  type EvidenceFile,
  type EvidenceManifest,
  type ServiceOutcome,
} from "@antiphon/contracts";
import type { CommandFact } from "../attempt/attempt.ts";
import { withinBytes } from "./bounded-result.ts";
import type { AttemptFacts } from "./attempt-facts.ts";
import type { Report } from "./report.ts";
import { logPath } from "./verification.ts";

/** The change of an attempt, in its bundle. */
export const DIFF_FILE = "diff.patch";

/** A file of the bundle: a stored blob (large output of the sandbox), or a text to store. */
export type BundleFile =
  { readonly path: string; readonly blob: BlobRef } | { readonly path: string; readonly text: string };

export interface Provenance {
  /** The agent's kind, and the sandbox it ran in; `sandbox` is null when no sandbox was needed. */
  readonly environment: Readonly<Record<string, unknown>>;
  readonly tools: readonly string[];
  readonly git: Readonly<Record<string, unknown>>;
  readonly transcript: string | null;
  /** The prepared environment; null: there was none. */
  readonly prepared: EnvironmentReport | null;
  readonly services: readonly ServiceOutcome[];
  /** The report of the egress gateway; null: the sandbox had no network. */
  readonly egress: EgressReport | null;
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

export function filesOf(facts: AttemptFacts, provenance: Provenance): BundleFile[] {
  const files: BundleFile[] = [
    ...logsOf(facts.work, "work"),
    ...logsOf(facts.checks, "checks"),
    { path: "provenance/environment.json", text: json(provenance.environment) },
    { path: "provenance/git.json", text: json(provenance.git) },
    { path: "provenance/tools.json", text: json(provenance.tools) },
  ];
  if (provenance.transcript !== null)
    files.push({ path: "provenance/transcript.json", text: provenance.transcript });
  files.push(...networkOf(provenance.egress), ...setupOf(provenance.prepared));
  files.push(...serviceLogs(provenance.services));
  if (facts.change !== null) files.push({ path: DIFF_FILE, text: facts.change.patch });
  return files;
}

/** The request log, and the recording of each model call, so that a later run can replay the calls. */
function networkOf(report: EgressReport | null): BundleFile[] {
  if (report === null) return [];
  const { log, recordings, ...totals } = report;
  const calls = recordings.map((blob, i) => ({
    path: `egress/model-${String(i + 1).padStart(4, "0")}.json`,
    blob,
  }));
  return [
    { path: "egress/summary.json", text: json(totals) },
    ...(log === null ? [] : [{ path: "egress/requests.jsonl", blob: log }]),
    ...calls,
  ];
}

/** How the environment was prepared, whenever that was. */
function setupOf(report: EnvironmentReport | null): BundleFile[] {
  if (report === null) return [];
  const { packages, agent } = report;
  return [
    { path: "environment/report.json", text: json(report) },
    ...preparationOf(report, "environment"),
    ...(agent === undefined ? [] : preparationOf(agent, "environment/agent")),
    ...(packages === null ? [] : [{ path: "provenance/packages.json", blob: packages }]),
  ];
}

function preparationOf({ log, egress }: EnvironmentReport, folder: string): BundleFile[] {
  return [
    ...(log === null ? [] : [{ path: `${folder}/setup.log`, blob: log }]),
    ...(egress?.log == null ? [] : [{ path: `${folder}/requests.jsonl`, blob: egress.log }]),
  ];
}

function logsOf(facts: readonly CommandFact[], folder: string): BundleFile[] {
  return facts.flatMap((fact, i) =>
    (["stdout", "stderr"] as const).flatMap((stream): BundleFile[] => {
      const path = logPath(fact, folder, i, stream);
      if (path === null) return [];
      const { blob, tail } = fact[stream];
      return [blob === null ? { path, text: tail } : { path, blob }];
    }),
  );
}

export function checksOfBundle(checks: readonly CommandFact[]): EvidenceCheck[] {
  return checks.map((fact, i) => ({
    command: fact.command,
    exit_code: fact.exitCode,
    duration_ms: fact.durationMs,
    timed_out: fact.timedOut,
    stdout_path: logPath(fact, "checks", i, "stdout"),
    stderr_path: logPath(fact, "checks", i, "stderr"),
  }));
}

/** Bound of the file list, since the manifest is one KV document. `diff.patch` names all changed files. */
const LISTED_BYTES = 256 * 1024;

export interface ManifestInput {
  readonly runId: string;
  readonly epoch: number;
  readonly associate: string;
  readonly baseCommit: string;
  readonly facts: AttemptFacts;
  readonly report: Report;
  readonly files: readonly EvidenceFile[];
}

export function manifestOf(input: ManifestInput): EvidenceManifest {
  const { facts, report } = input;
  return {
    schema_version: 1,
    run_id: input.runId,
    task_id: facts.taskId,
    epoch: input.epoch,
    author: "associate",
    author_id: input.associate,
    decision: report.decision,
    summary: report.code === null ? report.result.summary : `${report.code}: ${report.result.summary}`,
    base_commit: input.baseCommit,
    files_changed: withinBytes(facts.change?.files ?? [], LISTED_BYTES),
    checks: checksOfBundle(facts.checks),
    files: input.files.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)),
  };
}
