/** `antiphon.v1.rpc.connectors.read`: the gateway asks a Director what connectors it has, or to read them for a run. */
import { Type, type Static } from "typebox";
import { CONNECTOR_NAMES } from "../runs/connectors.ts";
import { RepoBase, RepoRef } from "../shapes/refs.ts";
import { closed, oneOf } from "../shapes/shape.ts";
import { RpcFailure } from "./repo-rpc.ts";

const Connectors = Type.Array(oneOf([...CONNECTOR_NAMES]), { maxItems: CONNECTOR_NAMES.length });
const Projects = Type.Array(RepoRef, { maxItems: 32 });

export const ConnectorsRequest = closed(
  {
    read: Type.Optional(
      closed(
        {
          goal: Type.String({ minLength: 1 }),
          connectors: Connectors,
          projects: Projects,
          topics: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 32 }),
        },
        { description: "Absent: nothing is read." },
      ),
    ),
  },
  { description: "Which connectors there are, or what they answer." },
);
export type ConnectorsRequest = Static<typeof ConnectorsRequest>;

export const ConnectorsReply = Type.Union(
  [
    closed({
      ok: Type.Literal(true),
      connectors: Type.Array(oneOf([...CONNECTOR_NAMES]), { description: "Those that are configured." }),
      projects: Type.Array(RepoRef, { description: "Read for a run that names none." }),
      base: Type.Optional(RepoBase),
    }),
    RpcFailure,
  ],
  { description: "The connectors of the deployment; `base`: the commit with what they answered." },
);
export type ConnectorsReply = Static<typeof ConnectorsReply>;
export type ConnectorsFound = Extract<ConnectorsReply, { ok: true }>;
