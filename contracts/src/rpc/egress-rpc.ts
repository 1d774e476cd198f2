/**
 * Messages between a sandbox-runner and an egress gateway on `antiphon.v1.rpc.egress.*`: open a listener for one sandbox,
 * close it and get a report of its traffic. The traffic itself is TCP from the runner to the listener; each connection
 * starts with the token.
 */
import { Type, type Static } from "typebox";
import { BlobRef } from "../shapes/refs.ts";
import { ModelBudget } from "../runs/run-options.ts";
import { EgressProfile } from "../seeds/director-task.ts";
import { closed, nullable, oneOf } from "../shapes/shape.ts";

/** Where a program in a sandbox leaves checkpoints of its work, over its proxy. No DNS knows this name. */
export const CHECKPOINT_HOST = "checkpoint.antiphon.invalid";
/** The variable that tells a program so, as the beginning of a URL. */
export const CHECKPOINT_VARIABLE = "ANTIPHON_CHECKPOINT";

export const RecordedAnswers = closed(
  {
    calls: Type.Array(BlobRef, { maxItems: 10_000, description: "Recordings of model calls, oldest first." }),
    then: oneOf(["stop", "live"], {
      description:
        "`stop`: nothing else leaves the sandbox. `live`: from the first call that the record does not answer, calls go to the model, and the profile applies.",
    }),
  },
  { description: "Model calls are answered from a record." },
);
export type RecordedAnswers = Static<typeof RecordedAnswers>;

export const EgressGrant = closed(
  {
    profile: EgressProfile,
    model_budget: nullable(ModelBudget, {
      description: "Budget of the whole run. null: model calls are refused.",
    }),
    record: Type.Optional(
      Type.Boolean({ description: "False: model calls are charged but not recorded. Default: true." }),
    ),
    checkpoints: Type.Optional(
      Type.Boolean({
        description:
          "True: programs may leave checkpoints for the attempt after this one, and read those before it. Default: false; what is left is forgotten.",
      }),
    ),
    masks: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 65_536 }), {
        maxItems: 256,
        description: "Secrets of the run's environment. Recordings hold stars in their place.",
      }),
    ),
    replay: Type.Optional(RecordedAnswers),
    resumes: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          "An earlier attempt of the task that was lost: its recorded model calls are answered from the record, then the model answers. In place of `replay`, if it left any.",
      }),
    ),
    resumes_since: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          "The first of the lost attempts in a row up to `resumes`, all of the same task on the same files. The newest checkpoint that one of them has left is what this attempt goes on from. Default: `resumes`.",
      }),
    ),
  },
  { description: "The hosts a sandbox may reach." },
);
export type EgressGrant = Static<typeof EgressGrant>;

export const EgressOpenRequest = closed(
  {
    run: Type.String({ minLength: 1, maxLength: 128 }),
    task: Type.String({ minLength: 1, maxLength: 128 }),
    epoch: Type.Integer({ minimum: 0 }),
    jobId: Type.String({ pattern: "^[a-z0-9][a-z0-9_-]{0,63}$" }),
    grant: EgressGrant,
  },
  { description: "Asks for a listener for one sandbox." },
);
export type EgressOpenRequest = Static<typeof EgressOpenRequest>;

export const EgressOpened = closed(
  {
    lease: Type.String({ minLength: 1, maxLength: 64 }),
    node: Type.String({ minLength: 1, maxLength: 64, description: "The gateway process that holds it." }),
    host: Type.String({ minLength: 1, maxLength: 253 }),
    port: Type.Integer({ minimum: 1, maximum: 65_535 }),
    token: Type.String({ pattern: "^[0-9a-f]{64}$", description: "First line of every connection." }),
    ca: Type.String({ description: "PEM certificates for the sandbox to trust. No key." }),
  },
  { description: "A listener of one sandbox. It lives as long as its control connection." },
);
export type EgressOpened = Static<typeof EgressOpened>;

export const EgressCloseRequest = closed(
  { lease: Type.String({ minLength: 1, maxLength: 64 }) },
  { description: "Ends a listener and revokes its token." },
);
export type EgressCloseRequest = Static<typeof EgressCloseRequest>;

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const EgressReport = closed(
  {
    log: nullable(BlobRef, { description: "One line of JSON per request; null if there was none." }),
    requests: count("All requests, including refused ones."),
    refused: count("Requests refused by a rule."),
    bytes_up: count("Bytes sent to remote hosts."),
    bytes_down: count("Bytes received from remote hosts."),
    model_calls: count("Model calls that were sent."),
    model_tokens: count("Tokens charged for them."),
    model_usd_micro: count("Millionths of a US dollar charged for them."),
    recordings: Type.Array(BlobRef, {
      maxItems: 10_000,
      description: "Request and response of each model call, without secrets, oldest first.",
    }),
    budget_spent: Type.Optional(
      Type.Boolean({ description: "True: a call was refused because the run's budget is used up." }),
    ),
    model_refused: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 400,
        description:
          "Code and reason of the first model call that was refused because it could not be priced, or had no key or no budget.",
      }),
    ),
    model_failed: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 400,
        description:
          "How many model calls failed, and why the last one did. Absent if the last one had an answer.",
      }),
    ),
    reached: Type.Optional(
      Type.Literal(true, {
        description:
          "A request to a model or to a host of the allowlist got through, was answered from a record, or failed for a reason that passes, so another attempt may have a model.",
      }),
    ),
    hosts_refused: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 253 }), {
        maxItems: 16,
        description: "The first hosts that were refused because the sandbox may not reach them.",
      }),
    ),
    first_refused: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 400,
        description: "Method, host and reason of the first request that a rule refused.",
      }),
    ),
    first_failed: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 400,
        description: "Method, host and reason of the first request that was allowed and failed.",
      }),
    ),
    replay: Type.Optional(
      closed(
        {
          calls: count("Recorded model calls."),
          served: count("Answers taken from the record."),
          strayed: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 1024,
              description: "The first call that differs from the record, and how.",
            }),
          ),
        },
        { description: "How the requests compare with the record that answered them." },
      ),
    ),
  },
  { description: "A report of the traffic through a sandbox's listener." },
);
export type EgressReport = Static<typeof EgressReport>;
