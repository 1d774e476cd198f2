/** The contracts of the five seed documents. */
import { RepoRef } from "../shapes/refs.ts";
import {
  commandEnvelopeRules,
  commitRules,
  policyConfigRules,
  taskPlanRules,
} from "../rules/contracts-v13.ts";
import { associateResultRules, directorTaskRules } from "../rules/director-associate.ts";
import { evidenceRules, fileMapRules, patchRules, planRules, taskContractRules } from "../rules/own.ts";
import { RunEvent } from "../runs/run-event.ts";
import { documentRules, finalRules, initialRules } from "../rules/router-contract.ts";
import { AssociateResult } from "../seeds/associate-result.ts";
import { DirectorTask, EgressProfile, GitAction, VerifyProfile } from "../seeds/director-task.ts";
import { EvidenceManifest } from "../seeds/evidence-manifest.ts";
import { Intent } from "../seeds/intent.ts";
import { OCCompileInput, OCCompileOutput } from "../seeds/open-code.ts";
import { Patch } from "../seeds/patch.ts";
import { Plan } from "../seeds/plan.ts";
import { RouterContract, RouterContractFinal, RouterContractInitial } from "../seeds/router-contract.ts";
import { RunViewModel } from "../seeds/run-view-model.ts";
import { SandboxJob, SandboxJobV1, SandboxResult, SandboxResultV1 } from "../seeds/sandbox-job.ts";
import { SkillIoSchema, SkillResult } from "../seeds/skill-result.ts";
import { TaskContract } from "../seeds/task-contract.ts";
import { Command, COMMANDS } from "../seeds/v13-commands.ts";
import { EVENTS, SessionEvent } from "../seeds/v13-events.ts";
import { TaskNode, TaskPlan } from "../seeds/v13-plan.ts";
import {
  AdaptersConfig,
  PolicyConfig,
  PolicyProfile,
  RateLimits,
  SessionConfig,
} from "../seeds/v13-policy.ts";
import {
  Correlation,
  WorkItemDetails,
  WorkItemRef,
  WorkItemSummary,
  WorkspaceRef,
} from "../seeds/v13-refs.ts";
import { contract } from "./contract.ts";

const v13 = <S extends Parameters<typeof contract>[2]>(
  name: string,
  schema: S,
  rules?: Parameters<typeof contract>[3],
) => contract(`${name}.v1.3`, "004", schema, rules);

export const SEED_CONTRACTS = {
  DirectorTask: contract("DirectorTask.v0", "000", DirectorTask, directorTaskRules),
  GitAction: contract("GitAction.v0", "000", GitAction),
  EgressProfile: contract("EgressProfile.v0", "000", EgressProfile),
  VerifyProfile: contract("VerifyProfile.v0", "000", VerifyProfile),
  AssociateResult: contract("AssociateResult.v0", "000", AssociateResult, associateResultRules),

  TaskContract: contract("TaskContract.v1", "001", TaskContract, taskContractRules),
  EvidenceManifest: contract("EvidenceManifest.v1", "001", EvidenceManifest, evidenceRules),
  SkillResult: contract("SkillResult.v1", "001", SkillResult),
  SkillIoSchema: contract("SkillIoSchema.v1", "001", SkillIoSchema),

  Intent: contract("Intent.v0", "002", Intent),
  Plan: contract("Plan.v0", "002", Plan, planRules),
  Patch: contract("Patch.v0", "002", Patch, patchRules),
  RunViewModel: contract("RunViewModel.v0", "002", RunViewModel),
  RunEvent: contract("RunEvent.v0", "002", RunEvent),
  OCCompileInput: contract("OCCompileInput.v0", "002", OCCompileInput),
  OCCompileOutput: contract("OCCompileOutput.v0", "002", OCCompileOutput),
  SandboxJob: contract("SandboxJob.v0", "002", SandboxJob, fileMapRules),
  SandboxJobV1: contract("SandboxJob.v1", "antiphon", SandboxJobV1, fileMapRules),
  SandboxResult: contract("SandboxResult.v0", "002", SandboxResult, fileMapRules),
  SandboxResultV1: contract("SandboxResult.v1", "antiphon", SandboxResultV1, fileMapRules),

  RouterContract: contract("RouterContract.v0", "003", RouterContract, documentRules),
  RouterContractInitial: contract("RouterContractInitial.v0", "003", RouterContractInitial, initialRules),
  RouterContractFinal: contract("RouterContractFinal.v0", "003", RouterContractFinal, finalRules),

  RepoRef: v13("RepoRef", RepoRef),
  WorkItemRef: v13("WorkItemRef", WorkItemRef),
  WorkItemSummary: v13("WorkItemSummary", WorkItemSummary),
  WorkItemDetails: v13("WorkItemDetails", WorkItemDetails),
  WorkspaceRef: v13("WorkspaceRef", WorkspaceRef),
  Correlation: v13("Correlation", Correlation),
  Command: v13("Command", Command, commandEnvelopeRules),
  CreateBranch: v13("CreateBranch", COMMANDS.CreateBranch),
  ApplyPatch: v13("ApplyPatch", COMMANDS.ApplyPatch),
  RunTests: v13("RunTests", COMMANDS.RunTests),
  Commit: v13("Commit", COMMANDS.Commit, commitRules),
  Push: v13("Push", COMMANDS.Push),
  GetDiff: v13("GetDiff", COMMANDS.GetDiff),
  BuildProject: v13("BuildProject", COMMANDS.BuildProject),
  TransitionTicket: v13("TransitionTicket", COMMANDS.TransitionTicket),
  Comment: v13("Comment", COMMANDS.Comment),
  SetAssignee: v13("SetAssignee", COMMANDS.SetAssignee),
  UploadArtifact: v13("UploadArtifact", COMMANDS.UploadArtifact),
  RequestApproval: v13("RequestApproval", COMMANDS.RequestApproval),
  QueryBacklog: v13("QueryBacklog", COMMANDS.QueryBacklog),
  QueryWorkItem: v13("QueryWorkItem", COMMANDS.QueryWorkItem),
  SessionEvent: v13("SessionEvent", SessionEvent),
  CommandAccepted: v13("CommandAccepted", EVENTS.CommandAccepted),
  CommandRejected: v13("CommandRejected", EVENTS.CommandRejected),
  CommandCompleted: v13("CommandCompleted", EVENTS.CommandCompleted),
  ArtifactAvailable: v13("ArtifactAvailable", EVENTS.ArtifactAvailable),
  Throttled: v13("Throttled", EVENTS.Throttled),
  ConflictDetected: v13("ConflictDetected", EVENTS.ConflictDetected),
  SessionStatusChanged: v13("SessionStatusChanged", EVENTS.SessionStatusChanged),
  PlanUpdated: v13("PlanUpdated", EVENTS.PlanUpdated),
  BacklogQueried: v13("BacklogQueried", EVENTS.BacklogQueried),
  WorkItemQueried: v13("WorkItemQueried", EVENTS.WorkItemQueried),
  TaskNode: v13("TaskNode", TaskNode),
  TaskPlan: v13("TaskPlan", TaskPlan, taskPlanRules),
  PolicyProfile: v13("PolicyProfile", PolicyProfile),
  RateLimits: v13("RateLimits", RateLimits),
  SessionConfig: v13("SessionConfig", SessionConfig),
  AdaptersConfig: v13("AdaptersConfig", AdaptersConfig),
  PolicyConfig: v13("PolicyConfig", PolicyConfig, policyConfigRules),
};
