/** Antiphon's own contracts: the messages between its services. */
import { DeadLetter } from "../journal/dead-letter.ts";
import { ImagesReply, ImagesRequest, SandboxImage } from "../rpc/images-rpc.ts";
import { ModelHostView, ModelsReply, ModelsRequest, ModelTrial } from "../rpc/models-rpc.ts";
import { CheckOutcome, Feedback } from "../journal/check-outcome.ts";
import { CheckReport, CheckRequest, RepoCheckEvent, RepoCheckRequest } from "../rpc/check-rpc.ts";
import { AttemptReplayEvent, AttemptReplayRequest, ReplayReport, ReplayRequest } from "../rpc/replay-rpc.ts";
import { AgentPack } from "../settings/agent-pack.ts";
import { EgressConfig } from "../settings/egress-config.ts";
import {
  EgressCloseRequest,
  EgressGrant,
  EgressOpened,
  EgressOpenRequest,
  EgressReport,
} from "../rpc/egress-rpc.ts";
import { EnvironmentReport, EnvironmentSpec } from "../rpc/environment.ts";
import { JournalEnvelope } from "../journal/record.ts";
import { ControlHint, LogLine } from "../wire/live.ts";
import { Findings } from "../reviews/findings.ts";
import { QaReport } from "../runs/skill-gates.ts";
import { PlanFile } from "../plans/plan-file.ts";
import { ProjectFile } from "../settings/project-file.ts";
import { Provenance } from "../runs/provenance.ts";
import { BlobRef, EvidenceRef, RepoBase, TreeRef } from "../shapes/refs.ts";
import { RunContractReply, RunContractRequest } from "../rpc/run-contract-rpc.ts";
import { RunRebuildReply, RunRebuildRequest } from "../rpc/rebuild-rpc.ts";
import { PolicySimulation } from "../rpc/policy-simulation.ts";
import { RunRestoreReply, RunRestoreRequest } from "../rpc/restore-rpc.ts";
import { Notice } from "../runs/notice.ts";
import { AdmissionReply } from "../rpc/admission-rpc.ts";
import { ConnectorsReply, ConnectorsRequest } from "../rpc/connectors-rpc.ts";
import { Brief, BriefMaterial } from "../reviews/brief.ts";
import { RepoExportReply, RepoExportRequest } from "../rpc/repo-export-rpc.ts";
import { RepoInspectReply, RepoInspectRequest, RpcFailure } from "../rpc/repo-rpc.ts";
import { planFileRules, runOptionsRules, sandboxRequestRules } from "../rules/own.ts";
import { AgentSpec } from "../runs/agents.ts";
import { HookDecision } from "../runs/hook-decision.ts";
import { ModelBudget, RunOptions } from "../runs/run-options.ts";
import { TaskSpec } from "../runs/task-spec.ts";
import { SandboxEvent, SandboxOutcome, SandboxRequest, SandboxSignal } from "../rpc/sandbox-rpc.ts";
import { SessionClaim, SessionDeedEvent, SessionDeedRequest } from "../rpc/session-rpc.ts";
import { SessionDecision } from "../runs/session-decision.ts";
import { SessionEntry, SessionRequest } from "../runs/session-entry.ts";
import { Backlog } from "../stored/backlog.ts";
import { DirectorKey } from "../stored/signature.ts";
import { ModelRecording } from "../stored/model-recording.ts";
import { RunArtifact, RunStep } from "../seeds/run-view-model.ts";
import { contract } from "./contract.ts";

export const OWN_CONTRACTS = {
  AgentSpec: contract("AgentSpec.v1", "antiphon", AgentSpec),
  RunOptions: contract("RunOptions.v1", "antiphon", RunOptions, runOptionsRules),
  TaskSpec: contract("TaskSpec.v1", "antiphon", TaskSpec),
  PlanFile: contract("PlanFile.v1", "antiphon", PlanFile, planFileRules),
  Findings: contract("Findings.v1", "antiphon", Findings),
  QaReport: contract("QaReport.v1", "antiphon", QaReport),
  Brief: contract("Brief.v1", "antiphon", Brief),
  BriefMaterial: contract("BriefMaterial.v1", "antiphon", BriefMaterial),
  RunStep: contract("RunStep.v1", "antiphon", RunStep),
  RunArtifact: contract("RunArtifact.v1", "antiphon", RunArtifact),
  BlobRef: contract("BlobRef.v1", "antiphon", BlobRef),
  EvidenceRef: contract("EvidenceRef.v1", "antiphon", EvidenceRef),
  RepoBase: contract("RepoBase.v1", "antiphon", RepoBase),
  TreeRef: contract("TreeRef.v1", "antiphon", TreeRef),
  CheckOutcome: contract("CheckOutcome.v1", "antiphon", CheckOutcome),
  Feedback: contract("Feedback.v1", "antiphon", Feedback),
  Provenance: contract("Provenance.v1", "antiphon", Provenance),
  DeadLetter: contract("DeadLetter.v1", "antiphon", DeadLetter),
  SessionDecision: contract("SessionDecision.v1", "antiphon", SessionDecision),
  SessionRequest: contract("SessionRequest.v1", "antiphon", SessionRequest),
  SessionEntry: contract("SessionEntry.v1", "antiphon", SessionEntry),
  SessionClaim: contract("SessionClaim.v1", "antiphon", SessionClaim),
  Backlog: contract("Backlog.v1", "antiphon", Backlog),
  SessionDeedRequest: contract("SessionDeedRequest.v1", "antiphon", SessionDeedRequest),
  SessionDeedEvent: contract("SessionDeedEvent.v1", "antiphon", SessionDeedEvent),
  DirectorKey: contract("DirectorKey.v1", "antiphon", DirectorKey),
  JournalEnvelope: contract("JournalEnvelope.v1", "antiphon", JournalEnvelope),
  ControlHint: contract("ControlHint.v1", "antiphon", ControlHint),
  LogLine: contract("LogLine.v1", "antiphon", LogLine),
  RepoInspectRequest: contract("RepoInspectRequest.v1", "antiphon", RepoInspectRequest),
  RepoInspectReply: contract("RepoInspectReply.v1", "antiphon", RepoInspectReply),
  ConnectorsRequest: contract("ConnectorsRequest.v1", "antiphon", ConnectorsRequest),
  AdmissionReply: contract("AdmissionReply.v1", "antiphon", AdmissionReply),
  ConnectorsReply: contract("ConnectorsReply.v1", "antiphon", ConnectorsReply),
  CheckRequest: contract("CheckRequest.v1", "antiphon", CheckRequest),
  CheckReport: contract("CheckReport.v1", "antiphon", CheckReport),
  RepoCheckRequest: contract("RepoCheckRequest.v1", "antiphon", RepoCheckRequest),
  RepoCheckEvent: contract("RepoCheckEvent.v1", "antiphon", RepoCheckEvent),
  ReplayRequest: contract("ReplayRequest.v1", "antiphon", ReplayRequest),
  ReplayReport: contract("ReplayReport.v1", "antiphon", ReplayReport),
  AttemptReplayRequest: contract("AttemptReplayRequest.v1", "antiphon", AttemptReplayRequest),
  AttemptReplayEvent: contract("AttemptReplayEvent.v1", "antiphon", AttemptReplayEvent),
  ModelRecording: contract("ModelRecording.v1", "antiphon", ModelRecording),
  Notice: contract("Notice.v1", "antiphon", Notice),
  HookDecision: contract("HookDecision.v1", "antiphon", HookDecision),
  PolicySimulation: contract("PolicySimulation.v1", "antiphon", PolicySimulation),
  RepoExportRequest: contract("RepoExportRequest.v1", "antiphon", RepoExportRequest),
  RepoExportReply: contract("RepoExportReply.v1", "antiphon", RepoExportReply),
  RunContractRequest: contract("RunContractRequest.v1", "antiphon", RunContractRequest),
  RunContractReply: contract("RunContractReply.v1", "antiphon", RunContractReply),
  RunRebuildRequest: contract("RunRebuildRequest.v1", "antiphon", RunRebuildRequest),
  RunRebuildReply: contract("RunRebuildReply.v1", "antiphon", RunRebuildReply),
  RunRestoreRequest: contract("RunRestoreRequest.v1", "antiphon", RunRestoreRequest),
  RunRestoreReply: contract("RunRestoreReply.v1", "antiphon", RunRestoreReply),
  RpcFailure: contract("RpcFailure.v1", "antiphon", RpcFailure),
  SandboxRequest: contract("SandboxRequest.v1", "antiphon", SandboxRequest, sandboxRequestRules),
  SandboxEvent: contract("SandboxEvent.v1", "antiphon", SandboxEvent),
  SandboxOutcome: contract("SandboxOutcome.v1", "antiphon", SandboxOutcome),
  ModelBudget: contract("ModelBudget.v1", "antiphon", ModelBudget),
  AgentPack: contract("AgentPack.v1", "antiphon", AgentPack),
  EgressConfig: contract("EgressConfig.v1", "antiphon", EgressConfig),
  EgressGrant: contract("EgressGrant.v1", "antiphon", EgressGrant),
  EgressOpenRequest: contract("EgressOpenRequest.v1", "antiphon", EgressOpenRequest),
  EgressOpened: contract("EgressOpened.v1", "antiphon", EgressOpened),
  EgressCloseRequest: contract("EgressCloseRequest.v1", "antiphon", EgressCloseRequest),
  EgressReport: contract("EgressReport.v1", "antiphon", EgressReport),
  EnvironmentSpec: contract("EnvironmentSpec.v1", "antiphon", EnvironmentSpec),
  EnvironmentReport: contract("EnvironmentReport.v1", "antiphon", EnvironmentReport),
  SandboxSignal: contract("SandboxSignal.v1", "antiphon", SandboxSignal),
  ProjectFile: contract("ProjectFile.v1", "antiphon", ProjectFile),
  ImagesRequest: contract("ImagesRequest.v1", "antiphon", ImagesRequest),
  ImagesReply: contract("ImagesReply.v1", "antiphon", ImagesReply),
  SandboxImage: contract("SandboxImage.v1", "antiphon", SandboxImage),
  ModelsRequest: contract("ModelsRequest.v1", "antiphon", ModelsRequest),
  ModelsReply: contract("ModelsReply.v1", "antiphon", ModelsReply),
  ModelHostView: contract("ModelHostView.v1", "antiphon", ModelHostView),
  ModelTrial: contract("ModelTrial.v1", "antiphon", ModelTrial),
};
