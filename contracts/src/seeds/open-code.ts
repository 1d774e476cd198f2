/** The OpenCode adapter's messages (seed 002, RFC 000). */
import { Type, type Static } from "typebox";
import { closed } from "../shapes/shape.ts";

export const OCCompileInput = closed(
  {
    intent: Type.Unknown({ description: "The intent to compile." }),
    schemaVersion: Type.Number({ description: "Version of the schemas asked for." }),
    seed: Type.String({ description: "Makes a recorded session addressable." }),
  },
  { description: "Request of the OpenCode adapter (seed 002)." },
);
export type OCCompileInput = Static<typeof OCCompileInput>;

export const OCCompileOutput = closed(
  {
    plan: Type.Unknown({ description: "A Plan.v0, if the adapter honours its contract." }),
    patch: Type.Unknown({ description: "A Patch.v0, if the adapter honours its contract." }),
    tests: Type.Array(Type.String()),
    transcript: Type.Unknown({ description: "The session, for the evidence." }),
  },
  { description: "Response of the OpenCode adapter (seed 002)." },
);
export type OCCompileOutput = Static<typeof OCCompileOutput>;

/** The port of the OpenCode adapter. It persists request and response payloads before it returns success. */
export interface OCClient {
  health(): Promise<{ ok: boolean }>;
  compile(input: OCCompileInput): Promise<OCCompileOutput>;
  diff(sessionId: string): Promise<unknown>;
}
