/** Seed 004: Contracts (v1.3). */
import assert from "node:assert/strict";
import {
  COMMANDS,
  EVENTS,
  RESERVED_COMMANDS,
  toContractJson,
  validate,
  type SchemaName,
} from "@antiphon/contracts";
import {
  accepts,
  extendsFields,
  golden,
  goldenOf,
  hasDefault,
  hasEnum,
  hasField,
  hasFields,
  refuses,
} from "./proof.ts";
import { statements } from "./statement.ts";

/** Fields as the seed lists them; `?` marks the optional ones (a .NET `?`, or a default). */
const RECORDS: Readonly<Record<string, Partial<Record<SchemaName, readonly string[]>>>> = {
  "Core types": {
    WorkItemRef: ["id", "providerHint?"],
    WorkItemSummary: ["id", "title", "status", "assignee?"],
    WorkItemDetails: ["id", "title", "description", "status", "assignee?", "tags"],
    RepoRef: ["name", "path"],
    WorkspaceRef: ["path"],
    Correlation: ["sessionId", "commandId?", "parentCommandId?", "planNodeId?", "issuerAgentId?"],
  },
  Commands: {
    CreateBranch: ["repo", "branchName", "fromRef?"],
    ApplyPatch: ["repo", "patchContent"],
    RunTests: ["repo", "filter?", "timeout?"],
    Commit: ["repo", "message", "includePaths", "amend?"],
    Push: ["repo", "branchName"],
    GetDiff: ["repo", "ref?"],
    BuildProject: ["repo", "projectPath", "configuration?", "targetFramework?", "targets?", "timeout?"],
    TransitionTicket: ["item", "state"],
    Comment: ["item", "body"],
    SetAssignee: ["item", "assignee"],
    UploadArtifact: ["name", "contentType", "content"],
    RequestApproval: ["reason", "requiredActions"],
    QueryBacklog: ["filter?"],
    QueryWorkItem: ["item"],
  },
  Events: {
    CommandAccepted: ["commandId"],
    CommandRejected: ["commandId", "reason", "policyRule?"],
    CommandCompleted: ["commandId", "outcome", "message?", "errorCode?"],
    ArtifactAvailable: ["commandId?", "kind", "downloadUri?", "inlineText?", "pathHint?"],
    Throttled: ["scope", "retryAfter"],
    ConflictDetected: ["repo", "details", "patchContent?"],
    SessionStatusChanged: ["sessionId", "status", "reason?"],
    PlanUpdated: ["sessionId", "plan"],
    BacklogQueried: ["items"],
    WorkItemQueried: ["details"],
  },
  Plans: {
    TaskPlan: ["nodes"],
    TaskNode: ["id", "title", "dependsOn", "workItem?", "agentHint?", "suggestedBranch?", "tags"],
  },
  Policies: {
    PolicyProfile: [
      "name",
      "commandWhitelist?",
      "commandBlacklist?",
      "protectedBranches",
      "maxFilesPerCommit?",
      "requireTestsBeforePush",
      "requireApprovalForPush",
      "allowedWorkItemTransitions",
      "limits?",
    ],
    RateLimits: ["callsPerMinute?", "burst?", "perCommandCaps?"],
  },
  Sessions: {
    SessionConfig: [
      "sessionId",
      "parentSessionId?",
      "planNodeId?",
      "policy",
      "repo",
      "workspace",
      "workItem?",
      "agentProfile",
    ],
  },
  Configuration: {
    AdaptersConfig: ["workItemsAdapter", "vcsAdapter", "terminalAdapter", "buildAdapter?"],
    PolicyConfig: ["profiles", "defaultProfile", "globalLimits"],
  },
};

/** Records that have optional fields besides those of the seed. */
const EXTENDED: ReadonlySet<SchemaName> = new Set(["PolicyProfile", "PolicyConfig"]);

const records = (section: string) =>
  (Object.entries(RECORDS[section] ?? {}) as [SchemaName, readonly string[]][]).map(([name, fields]) => ({
    says: `${name} is { ${fields.join(", ")} }`,
    proof: () => (EXTENDED.has(name) ? extendsFields : hasFields)(name, fields),
  }));

const envelope = (command: string) => ({
  command,
  commandId: "c-1",
  correlation: { sessionId: "s-1" },
  payload: {},
});

export const seed004 = statements("004", {
  "Versioning and documentation discipline": [
    {
      says: "a shape change needs a new version, a dated reason and its page; CI enforces it",
      file: "contracts/conformance/release.test.ts",
      title: "a released shape has not changed under its id",
    },
    {
      says: "every contract has a dated entry with its reason in the change log",
      file: "contracts/conformance/release.test.ts",
      title: "every contract is named in a dated change log entry that gives a reason",
    },
    {
      says: "contracts changes ship with serialization tests",
      file: "contracts/src/wire/wire-json.test.ts",
      title: "golden file",
    },
  ],
  Serialization: [
    {
      says: "camelCase property names: every v1.3 field is camelCase",
      proof: () => {
        for (const fields of Object.values(RECORDS).flatMap((section) => Object.values(section))) {
          for (const field of fields) assert.match(field, /^[a-z][a-zA-Z]*\??$/);
        }
      },
    },
    { says: "indented output", proof: () => assert.equal(toContractJson({ a: 1 }), '{\n  "a": 1\n}') },
    {
      says: "null values are omitted",
      proof: () => assert.equal(toContractJson({ a: null, b: 1 }), '{\n  "b": 1\n}'),
    },
    {
      says: "enums are strings",
      proof: () => hasEnum("CommandCompleted", "outcome", ["Success", "Failure"]),
    },
    {
      says: "relaxed escaping: > and quotes' kin stay as they are",
      proof: () => assert.equal(toContractJson({ a: "x > y & 'z' <w>" }), '{\n  "a": "x > y & \'z\' <w>"\n}'),
    },
    {
      says: "TimeSpan and DateTimeOffset are ISO-8601",
      proof: () => {
        const repo = { name: "app", path: "/app" };
        accepts("RunTests", { repo, timeout: "PT5M" });
        refuses("RunTests", { repo, timeout: "00:05:00" }, "/timeout");
        refuses("Throttled", { scope: "session", retryAfter: "tomorrow" }, "/retryAfter");
      },
    },
  ],
  "Core types": [
    ...records("Core types"),
    {
      says: "ids are GUIDs or strings with stable casing",
      proof: () => {
        const read = validate("CommandAccepted", { commandId: "AbC-01" });
        assert.equal(read.ok && read.value.commandId, "AbC-01");
      },
    },
  ],
  Commands: [
    ...records("Commands"),
    { says: "Commit.amend defaults to false", proof: () => hasDefault("Commit", "amend", false) },
    { says: "GetDiff.ref defaults to HEAD", proof: () => hasDefault("GetDiff", "ref", "HEAD") },
    {
      says: "UploadArtifact's bytes are base64",
      proof: () => refuses("UploadArtifact", { name: "a", contentType: "b", content: "%" }, "/content"),
    },
    {
      says: "the commands are these and no others",
      proof: () => assert.deepEqual(Object.keys(COMMANDS).sort(), Object.keys(RECORDS.Commands ?? {}).sort()),
    },
    ...RESERVED_COMMANDS.map((name) => ({
      says: `${name} is reserved and refused with a clear error`,
      proof: () => refuses("Command", envelope(name), "/command", "command/not-reserved"),
    })),
  ],
  Events: [
    ...records("Events"),
    {
      says: "the events are these and no others",
      proof: () => assert.deepEqual(Object.keys(EVENTS).sort(), Object.keys(RECORDS.Events ?? {}).sort()),
    },
    {
      says: "CommandCompleted says Success or Failure",
      proof: () => refuses("CommandCompleted", { commandId: "c", outcome: "Done" }, "/outcome"),
    },
  ],
  Artifacts: [
    {
      says: "kinds are Diff, Patch, TestResults, Log, Plan, ErrorReport, Conflict",
      proof: () =>
        hasEnum("ArtifactAvailable", "kind", [
          "Diff",
          "Patch",
          "TestResults",
          "Log",
          "Plan",
          "ErrorReport",
          "Conflict",
        ]),
    },
  ],
  Plans: [
    ...records("Plans"),
    {
      says: "a single-node plan is a plan",
      proof: () => accepts("TaskPlan", golden("TaskPlan.v1.3", "single node")),
    },
    {
      says: "richer graphs are plans too",
      proof: () => accepts("TaskPlan", golden("TaskPlan.v1.3", "diamond")),
    },
  ],
  Policies: [
    ...records("Policies"),
    {
      says: "applied before dispatch; rejections emit CommandRejected",
      file: "test/integration/gateway/gateway-commands.test.ts",
      title: "are applied before dispatch; rejections emit CommandRejected",
    },
  ],
  Sessions: [
    ...records("Sessions"),
    {
      says: "SessionEvent delivers ordered events: each has its place in the sequence",
      proof: () => {
        const [first] = Object.values(goldenOf("SessionEvent.v1.3").valid);
        accepts("SessionEvent", first);
        const { sequence: _, ...rest } = first as Record<string, unknown>;
        refuses("SessionEvent", rest, "/sequence");
      },
    },
  ],
  Configuration: [
    ...records("Configuration"),
    {
      says: "the build adapter is opt-in",
      proof: () => hasField("AdaptersConfig", "buildAdapter", "optional"),
    },
    {
      says: "the default profile is one of the profiles",
      proof: () =>
        refuses("PolicyConfig", { profiles: {}, defaultProfile: "x", globalLimits: {} }, "/defaultProfile"),
    },
  ],
  "Change log of the seed": [
    {
      says: "1.2: responses are routed to the issuing agent by issuerAgentId",
      proof: () => hasField("Correlation", "issuerAgentId", "optional"),
    },
    {
      says: "1.1: backlog queries have commands and events",
      proof: () => {
        accepts("QueryBacklog", {});
        accepts("BacklogQueried", { items: [] });
      },
    },
    {
      says: "1.3: BuildProject has optional configuration and targets",
      proof: () => {
        hasField("BuildProject", "configuration", "optional");
        hasField("BuildProject", "targets", "optional");
      },
    },
  ],
});
