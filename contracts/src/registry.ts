/**
 * Every contract by name: its id (name and version), its schema, where it comes from. Types, validators, JSON Schema
 * files and reference pages are derived from this table.
 */
import type { Static, TSchema } from "typebox";
import { AgentSpec, RunOptions, RunRequest, TaskSpec } from "./run-options.ts";
import { BlobRef, EvidenceRef, RepoBase, RepoRef, TreeRef } from "./refs.ts";
import {
  JournalEnvelope,
  JOURNAL_TYPES,
  journalRecordOf,
  type JournalType,
  type JournalRecordOf,
} from "./journal/record.ts";
import { CheckOutcome, Feedback } from "./journal/check-outcome.ts";
import { ControlHint, LogLine } from "./live.ts";
import { RepoInspectReply, RepoInspectRequest, RpcFailure } from "./repo-rpc.ts";
import { SandboxEvent, SandboxOutcome, SandboxRequest, SandboxSignal } from "./sandbox-rpc.ts";
import { AssociateResult } from "./seeds/associate-result.ts";
import { DirectorTask, EgressProfile, VerifyProfile } from "./seeds/director-task.ts";
import { EvidenceManifest } from "./seeds/evidence-manifest.ts";
import { Intent } from "./seeds/intent.ts";
import { OCCompileInput, OCCompileOutput } from "./seeds/open-code.ts";
import { Patch } from "./seeds/patch.ts";
import { Plan } from "./seeds/plan.ts";
import { RouterContract, RouterContractFinal, RouterContractInitial } from "./seeds/router-contract.ts";
import { RunArtifact, RunStep, RunViewModel } from "./seeds/run-view-model.ts";
import { SandboxJob, SandboxResult } from "./seeds/sandbox-job.ts";
import { TaskContract } from "./seeds/task-contract.ts";

export type Source = "000" | "001" | "002" | "003" | "004" | "antiphon";

export type Contract<S extends TSchema = TSchema> = {
  /** Name and version: `DirectorTask.v0`. */
  id: string;
  source: Source;
  schema: S;
};

const of = <S extends TSchema>(id: string, source: Source, schema: S): Contract<S> => ({
  id,
  source,
  schema,
});

const NAMED = {
  DirectorTask: of("DirectorTask.v0", "000", DirectorTask),
  EgressProfile: of("EgressProfile.v0", "000", EgressProfile),
  VerifyProfile: of("VerifyProfile.v0", "000", VerifyProfile),
  AssociateResult: of("AssociateResult.v0", "000", AssociateResult),
  TaskContract: of("TaskContract.v1", "001", TaskContract),
  EvidenceManifest: of("EvidenceManifest.v1", "001", EvidenceManifest),
  Intent: of("Intent.v0", "002", Intent),
  Plan: of("Plan.v0", "002", Plan),
  Patch: of("Patch.v0", "002", Patch),
  RunViewModel: of("RunViewModel.v0", "002", RunViewModel),
  OCCompileInput: of("OCCompileInput.v0", "002", OCCompileInput),
  OCCompileOutput: of("OCCompileOutput.v0", "002", OCCompileOutput),
  SandboxJob: of("SandboxJob.v0", "002", SandboxJob),
  SandboxResult: of("SandboxResult.v0", "002", SandboxResult),
  RouterContract: of("RouterContract.v0", "003", RouterContract),
  RouterContractInitial: of("RouterContractInitial.v0", "003", RouterContractInitial),
  RouterContractFinal: of("RouterContractFinal.v0", "003", RouterContractFinal),
  AgentSpec: of("AgentSpec.v1", "antiphon", AgentSpec),
  RunOptions: of("RunOptions.v1", "antiphon", RunOptions),
  RunRequest: of("RunRequest.v1", "antiphon", RunRequest),
  TaskSpec: of("TaskSpec.v1", "antiphon", TaskSpec),
  RunStep: of("RunStep.v1", "antiphon", RunStep),
  RunArtifact: of("RunArtifact.v1", "antiphon", RunArtifact),
  BlobRef: of("BlobRef.v1", "antiphon", BlobRef),
  EvidenceRef: of("EvidenceRef.v1", "antiphon", EvidenceRef),
  RepoRef: of("RepoRef.v1.3", "004", RepoRef),
  RepoBase: of("RepoBase.v1", "antiphon", RepoBase),
  TreeRef: of("TreeRef.v1", "antiphon", TreeRef),
  CheckOutcome: of("CheckOutcome.v1", "antiphon", CheckOutcome),
  Feedback: of("Feedback.v1", "antiphon", Feedback),
  JournalEnvelope: of("JournalEnvelope.v1", "antiphon", JournalEnvelope),
  ControlHint: of("ControlHint.v1", "antiphon", ControlHint),
  LogLine: of("LogLine.v1", "antiphon", LogLine),
  RepoInspectRequest: of("RepoInspectRequest.v1", "antiphon", RepoInspectRequest),
  RepoInspectReply: of("RepoInspectReply.v1", "antiphon", RepoInspectReply),
  RpcFailure: of("RpcFailure.v1", "antiphon", RpcFailure),
  SandboxRequest: of("SandboxRequest.v1", "antiphon", SandboxRequest),
  SandboxEvent: of("SandboxEvent.v1", "antiphon", SandboxEvent),
  SandboxOutcome: of("SandboxOutcome.v1", "antiphon", SandboxOutcome),
  SandboxSignal: of("SandboxSignal.v1", "antiphon", SandboxSignal),
};

type JournalName = `journal.${JournalType}`;
type Registry = typeof NAMED & { [N in JournalName]: Contract };

/** `DirectorTask`, `journal.dispatch`, ... */
export type SchemaName = keyof Registry;

/** Names whose reader fills in defaults, so the value read has more keys than the value written may have. */
type FilledTypes = {
  DirectorTask: DirectorTask;
  EgressProfile: EgressProfile;
  VerifyProfile: VerifyProfile;
  RunOptions: RunOptions;
  RunRequest: RunRequest;
  Intent: Intent;
  RunViewModel: RunViewModel;
};

/** The type of a value that `validate(name, ...)` accepted. */
export type ContractType<N extends SchemaName> = N extends keyof FilledTypes
  ? FilledTypes[N]
  : N extends `journal.${infer T extends JournalType}`
    ? JournalRecordOf<T>
    : N extends keyof typeof NAMED
      ? Static<(typeof NAMED)[N]["schema"]>
      : never;

const journal = Object.fromEntries(
  JOURNAL_TYPES.map((type) => [
    `journal.${type}`,
    of(`journal.${type}.v1`, "antiphon", journalRecordOf(type)),
  ]),
) as { [N in JournalName]: Contract };

export const registry: Registry = { ...NAMED, ...journal };

export const SCHEMA_NAMES = Object.keys(registry) as SchemaName[];

const byId = new Map<string, SchemaName>(SCHEMA_NAMES.map((name) => [registry[name].id, name]));

/** The registry name for `DirectorTask` or `DirectorTask.v0`; null when there is none. */
export function schemaNameOf(text: string): SchemaName | null {
  if (Object.hasOwn(registry, text)) return text as SchemaName;
  return byId.get(text) ?? null;
}
