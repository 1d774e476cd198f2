/** RunViewModel v0 (seed 002, RFC 000): the view of a run for people, a projection of the journal. */
import { Type, type Static } from "typebox";
import { CommitId, Digest } from "../shapes/ids.ts";
import { Choice } from "../journal/approval.ts";
import { anyObject, closed, oneOf } from "../shapes/shape.ts";

export const RunStatus = oneOf(["queued", "running", "waiting_input", "succeeded", "failed", "canceled"], {
  description: "queued -> running -> waiting_input -> succeeded | failed | canceled.",
});
export type RunStatus = Static<typeof RunStatus>;

export const RunViewModel = closed(
  {
    runId: Type.String(),
    status: oneOf(["queued", "running", "waiting_input", "succeeded", "failed", "canceled"]),
    steps: Type.Array(anyObject(), { description: "One object per task; see RunStep." }),
    artifacts: Type.Array(anyObject(), { description: "One object per artifact; see RunArtifact." }),
    traceId: Type.Optional(Type.String()),
  },
  { description: "The view of a run for people (seed 002)." },
);

export const StepApproval = closed(
  {
    state: oneOf(["pending", "approved", "rejected", "changes"], {
      description: "pending: waiting for people. changes: another attempt was asked for.",
    }),
    verdict: Type.Unsafe<string>({
      ...Digest,
      description: "Digest of the verdict, which an approval must name.",
    }),
    commit: CommitId,
    needed: Type.Integer({ minimum: 1, description: "Number of different people who must approve." }),
    reasons: Type.Optional(
      Type.Array(Type.String(), { description: "Why a plan or a policy asks people, one sentence each." }),
    ),
    words: Type.Array(
      closed({
        choice: Choice,
        by: Type.String(),
        at: Type.String({ description: "Time by the journal's clock, ISO 8601." }),
        reason: Type.Optional(Type.String()),
      }),
      { description: "Decisions that counted, oldest first." },
    ),
  },
  { description: "The decision of people about a verified change before it lands." },
);
export type StepApproval = Static<typeof StepApproval>;

export const RunStep = closed(
  {
    id: Type.String({ description: "task_id." }),
    title: Type.String(),
    kind: Type.String(),
    status: oneOf(["open", "proposed", "done", "failed"], { description: "The task contract's state." }),
    phase: oneOf(
      [
        "blocked",
        "ready",
        "paused",
        "resting",
        "claimed",
        "verifying",
        "gated",
        "landing",
        "waiting_input",
        "finished",
      ],
      {
        description:
          "State of the current attempt. paused: ready, but the run is paused; resting: lost repeatedly, so the next attempt waits for a backoff; gated: verified, and a skill judges it.",
      },
    ),
    epoch: Type.Integer({
      minimum: 0,
      description: "The current attempt's fencing number; 0 before the first.",
    }),
    attempts: Type.Integer({ minimum: 0, description: "Attempts that reached a verdict or a report." }),
    deps: Type.Array(Type.String()),
    agent: Type.Optional(
      Type.String({ description: "Its own agent, with its model. Absent: that of the run." }),
    ),
    image: Type.Optional(Type.String({ description: "Its own sandbox image. Absent: that of the run." })),
    network: Type.Optional(
      Type.String({
        description:
          "What its attempts can reach: `git+pkg`, the allowed hosts. Absent: nothing but the models that a budget pays for.",
      }),
    ),
    verdict: Type.Union([Type.String(), Type.Null()]),
    code: Type.Union([Type.String(), Type.Null()]),
    message: Type.Union([Type.String(), Type.Null()]),
    commit: Type.Union([Type.String(), Type.Null()]),
    questions: Type.Array(Type.String()),
    associate: Type.Union([Type.String(), Type.Null()]),
    approval: Type.Optional(StepApproval),
  },
  { description: "One task of a run, as an element of RunViewModel.steps." },
);
export type RunStep = Static<typeof RunStep>;

export const RunArtifact = closed(
  {
    kind: oneOf(["Diff", "Patch", "TestResults", "Log", "Plan", "ErrorReport", "Conflict"], {
      description: "Artifact kinds of Contracts v1.3.",
    }),
    taskId: Type.Union([Type.String(), Type.Null()]),
    epoch: Type.Integer({ minimum: 0 }),
    title: Type.String(),
    bucket: Type.String({ description: "KV bucket or object store that holds it." }),
    name: Type.String({ description: "Key or object name in the bucket." }),
    digest: Type.Union([Type.String(), Type.Null()]),
    bytes: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
  },
  { description: "One artifact of a run, as an element of RunViewModel.artifacts." },
);
export type RunArtifact = Static<typeof RunArtifact>;

/** The shape of RunViewModel.v0, with its open objects narrowed to Antiphon's own. */
export type RunViewModel = {
  runId: string;
  status: RunStatus;
  steps: RunStep[];
  artifacts: RunArtifact[];
  traceId?: string;
};
