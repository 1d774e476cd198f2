/** Patch v0 (seed 002, RFC 000): one diff per file, and the matching tests. */
import { Type, type Static } from "typebox";
import { closed } from "../shapes/shape.ts";

export const PatchFile = closed({
  path: Type.String({ description: "Relative to the repository root, forward slashes, no `..`." }),
  diff: Type.String({ description: "Unified diff of this file." }),
});
export type PatchFile = Static<typeof PatchFile>;

export const Patch = closed(
  {
    files: Type.Array(PatchFile),
    tests: Type.Optional(Type.Array(Type.String(), { description: "Commands that show the patch works." })),
  },
  { description: "A change to a repository (seed 002)." },
);
export type Patch = Static<typeof Patch>;
