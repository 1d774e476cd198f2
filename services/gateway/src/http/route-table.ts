// The routes of the HTTP API as data: what each takes and answers. Pure. The OpenAPI document and the typed client are made from
// this table; a test compares it with the server's routes.
import type { SchemaName } from "@antiphon/contracts";
import type { AnswerName } from "./answers.ts";

type Media = "text/event-stream" | "text/plain";

export interface Route {
  readonly method: "get" | "post";
  readonly path: string;
  readonly summary: string;
  readonly status: number;
  /** JSON by its name, or of several forms (a slow answer can fail after its status was sent); another media type; null: any JSON. */
  readonly answer: Answer;
  /** JSON by its name, the contracts of its fields, or null: no body. */
  readonly body: Body;
  /** The body may be left out. */
  readonly bodiless?: boolean;
  /** Another status with the same answer. */
  readonly again?: number;
  /** Parameters of the query that it does not do without. */
  readonly query?: readonly string[];
  /** Parameters of the query that may be left out, with a pattern of their values. */
  readonly options?: Readonly<Record<string, string>>;
  /** A list: it takes `limit` and `cursor`, and answers with `next` and a `Link`. */
  readonly paged?: boolean;
  /** With `Accept: text/event-stream` it is a stream of server-sent events. */
  readonly stream?: boolean;
}

type JsonName = SchemaName | AnswerName;
type Answer = JsonName | readonly JsonName[] | Media | null;
type Body = JsonName | Readonly<Record<string, SchemaName>> | null;
type More = Pick<Route, "again" | "bodiless" | "query" | "options" | "paged" | "stream">;

const route = (
  method: Route["method"],
  path: string,
  summary: string,
  status: number,
  answer: Answer,
  body: Body = null,
  more: More = {},
): Route => ({ method, path, summary, status, answer, body, ...more });

const SEQUENCE = "^\\d{1,15}$";

const MODEL = "^[\\w./:@-]{1,128}$";

const KIND = "^(attempt|verdict)$";

/** In the order of README.md. */
export const ROUTES: readonly Route[] = [
  route(
    "post",
    "/sessions",
    "Open a session: a short-lived token for prompts, and the Directors' public keys",
    201,
    "OpenedSession",
    "SessionRequest",
    { bodiless: true },
  ),
  route("get", "/sessions", "The sessions of repositories, the newest first", 200, "SessionPage", null, {
    paged: true,
  }),
  route(
    "get",
    "/sessions/{id}",
    "A session as its events tell it: status, plan, commands, artifacts",
    200,
    "SessionView",
  ),
  route(
    "post",
    "/sessions/{id}/commands",
    "Send a command of Contracts v1.3; the policy is checked first",
    202,
    "SessionEvents",
    "Command",
  ),
  route(
    "get",
    "/sessions/{id}/events",
    "The events that answer a session's commands, in order; as a stream with `Accept: text/event-stream`",
    200,
    "SessionEventPage",
    null,
    { paged: true, stream: true, options: { after: "^\\d{1,6}$", agent: "" } },
  ),
  route(
    "get",
    "/sessions/{id}/approvals",
    "Requests for approval that wait for a person",
    200,
    "WaitingApprovals",
    null,
    { paged: true },
  ),
  route(
    "post",
    "/sessions/{id}/approvals",
    "Approve or reject one of them",
    200,
    "SessionView",
    "SessionDecision",
  ),
  route("get", "/sessions/{id}/artifacts/{name}", "The bytes of a session's artifact", 200, "text/plain"),
  route(
    "post",
    "/intents",
    "Store an intent; the same body again gives the same id and 200",
    201,
    "StoredIntent",
    "Intent",
    { again: 200 },
  ),
  route("get", "/intents/{id}", "An intent", 200, "IntentDocument"),
  route(
    "post",
    "/intents/{id}/run",
    "Start a run; with an Idempotency-Key the request can be repeated safely",
    202,
    "StartedRun",
  ),
  route(
    "post",
    "/checks",
    "Run a repository's checks in a clean room, without a run; spaces come before the answer, or events with `Accept: text/event-stream`",
    200,
    ["CheckReport", "Problem"],
    "CheckRequest",
  ),
  route(
    "get",
    "/policy",
    "The policy profiles that apply to a repository; `repo` is its path or URL",
    200,
    "PolicyExplanation",
    null,
    { query: ["repo"] },
  ),
  route(
    "post",
    "/policy/check",
    "Check an intent against the policy; nothing is stored",
    200,
    "PolicyAnswer",
    "Intent",
  ),
  route(
    "post",
    "/policy/simulate",
    "Judge up to 100 runs on record by a policy; nothing is stored",
    200,
    "SimulatedRuns",
    "PolicySimulation",
  ),
  route("get", "/runs", "The runs, the newest first", 200, "RunPage", null, { paged: true }),
  route("get", "/runs/{id}", "The state of a run", 200, "RunViewModel"),
  route(
    "get",
    "/runs/{id}/events",
    "A run's journal; as it grows with `Accept: text/event-stream`",
    200,
    "RunRecords",
    null,
    { paged: true, stream: true, options: { logs: "" } },
  ),
  route(
    "post",
    "/hooks/{id}/decisions",
    "A person's decision that another system passes on, in a signed request",
    202,
    "AcceptedEvent",
    "HookDecision",
  ),
  route("post", "/runs/{id}/events", "Answer, approve or cancel", 202, "AcceptedEvent", "RunEvent"),
  route(
    "post",
    "/runs/{id}/pause",
    "Pause a run: nothing new starts, running attempts may finish and land",
    202,
    "ControlledRun",
    "ControlReason",
    { bodiless: true },
  ),
  route("post", "/runs/{id}/resume", "Resume a paused run", 202, "ControlledRun", "ControlReason", {
    bodiless: true,
  }),
  route(
    "post",
    "/runs/{id}/retry",
    "Start a failed or canceled run's intent again, as a new run",
    202,
    "RetriedRun",
  ),
  route(
    "post",
    "/runs/{id}/replay",
    "Carry out a recorded attempt once more, with recorded answers; spaces come before the answer",
    200,
    ["ReplayReport", "Problem"],
    "ReplayRequest",
  ),
  route(
    "post",
    "/runs/{id}/restore",
    "Put an archived run's records back into the journal",
    200,
    "RestoredRun",
  ),
  route("post", "/runs/{id}/rebuild", "Rebuild a run's documents from the journal", 200, "RebuiltRun"),
  route(
    "get",
    "/runs/{id}/journal",
    "A run's stored messages unchanged, including damaged ones",
    200,
    "RunMaterial",
    null,
    { options: { after: SEQUENCE } },
  ),
  route("get", "/journal", "The journal's streams, and every run that has a record", 200, "JournalOverview"),
  route("get", "/runs/{id}/evidence", "A run's evidence", 200, "RunEvidence", null, { paged: true }),
  route("get", "/runs/{id}/evidence/{task}/{epoch}", "One evidence bundle", 200, "EvidenceBundle", null, {
    options: { kind: KIND },
  }),
  route(
    "get",
    "/runs/{id}/evidence/{task}/{epoch}/files/{path}",
    "One file of a bundle",
    200,
    "text/plain",
    null,
    { options: { kind: KIND } },
  ),
  route("get", "/dead-letters", "Dead letters, oldest first", 200, "DeadLetters", null, {
    paged: true,
    options: { after: SEQUENCE },
  }),
  route("get", "/dead-letters/{id}", "One dead letter with its payload", 200, "DeadLetterDetail"),
  route("post", "/dead-letters/{id}/requeue", "Requeue a dead letter", 202, "RequeuedLetter"),
  route(
    "post",
    "/recordings",
    "Store a recorded agent session under its replay key",
    201,
    "StoredRecording",
    { input: "OCCompileInput", output: "OCCompileOutput" },
  ),
  route("get", "/keys", "Public keys of the Directors, as a JWK set", 200, "DirectorKeys"),
  route("get", "/models", "The model hosts of the deployment, with prices", 200, "ModelsListed"),
  route("post", "/models/test", "Ask a model host which models it has", 200, "ModelsListed", "ModelsRequest"),
  route("get", "/images", "The images that sandboxes may use", 200, "ImagesListed"),
  route("post", "/images", "Allow or disallow an image", 200, "ImagesListed", "ImagesRequest"),
  route(
    "get",
    "/services",
    "The services that answer now; waits until `expect` have",
    200,
    "PresentServices",
    null,
    {
      options: { expect: "" },
    },
  ),
  route(
    "get",
    "/queues",
    "The work that waits and is under way, and the attempts that are held back",
    200,
    "Queues",
  ),
  route(
    "get",
    "/agents",
    "The agent packs of the deployment, and whether their models can be called",
    200,
    "Agents",
  ),
  route("get", "/agents/{name}", "An agent pack as `inputs.agent` of an intent", 200, "NamedAgent", null, {
    options: { model: MODEL },
  }),
  route("get", "/healthz", "The process is alive", 200, "Alive"),
  route("get", "/readyz", "NATS is connected", 200, "Ready"),
  route("get", "/metrics", "Prometheus", 200, "text/plain"),
  route("get", "/openapi.json", "This document", 200, null),
];
