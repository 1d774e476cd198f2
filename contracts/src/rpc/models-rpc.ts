/** `antiphon.v1.rpc.egress.models`: the model hosts that an egress gateway knows, and a trial of one of them. */
import { Type, type Static } from "typebox";
import { ModelPrice } from "../settings/egress-config.ts";
import { closed, nullable, oneOf } from "../shapes/shape.ts";
import { RpcFailure } from "./repo-rpc.ts";

const host = Type.String({ minLength: 1, maxLength: 253, pattern: "^[A-Za-z0-9.-]+$" });

export const ModelsRequest = Type.Union(
  [closed({ op: Type.Literal("list") }), closed({ op: Type.Literal("test"), host })],
  { description: "List the model hosts, or ask one for the models that it offers, which costs nothing." },
);
export type ModelsRequest = Static<typeof ModelsRequest>;

export const ModelHostView = closed(
  {
    host: Type.String(),
    shape: oneOf(["openai", "anthropic", "gemini"]),
    upstream: nullable(Type.String(), { description: "Where its calls go instead; null: to the host." }),
    origin: oneOf(["shipped", "configuration"]),
    key: oneOf(["set", "missing", "none"], { description: "`none`: no key is sent." }),
    reason: nullable(Type.String(), { description: "Why the key is missing." }),
    prices: Type.Record(Type.String({ minLength: 1, maxLength: 128 }), ModelPrice),
  },
  { description: "A host whose model calls are metered." },
);
export type ModelHostView = Static<typeof ModelHostView>;

export const ModelTrial = closed(
  {
    host: Type.String(),
    works: Type.Boolean(),
    said: Type.String({ description: "What happened, in words." }),
    models: Type.Array(Type.String({ maxLength: 128 }), {
      maxItems: 1_000,
      description: "Names of the models that it offers.",
    }),
    ms: Type.Integer({ minimum: 0, description: "Milliseconds to the answer." }),
  },
  { description: "The answer of a model host to the question which models it has." },
);
export type ModelTrial = Static<typeof ModelTrial>;

export const ModelsReply = Type.Union(
  [
    closed({
      ok: Type.Literal(true),
      node: Type.String(),
      file: nullable(Type.String(), { description: "Its configuration file, on its machine." }),
      hosts: Type.Array(ModelHostView),
      unusable: Type.Array(closed({ entry: Type.String(), reason: Type.String() }), {
        description: "Entries of the configuration that are left out.",
      }),
      trial: Type.Optional(ModelTrial),
    }),
    RpcFailure,
  ],
  { description: "The model hosts of an egress gateway." },
);
export type ModelsReply = Static<typeof ModelsReply>;
