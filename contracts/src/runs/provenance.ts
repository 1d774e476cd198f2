/** `provenance/` of an evidence bundle (seed 001): environment info, tool versions, git commit hashes. */
import { Type, type Static } from "typebox";
import { anyObject, closed, nullable } from "../shapes/shape.ts";

export const Provenance = closed(
  {
    environment: nullable(anyObject(), {
      description:
        "Facts about the environment: node, image, provider. null if no sandbox was needed. Never a secret.",
    }),
    tools: Type.Array(Type.String(), { description: "Versions of the tools, one per line." }),
    git: anyObject({ description: "Commit and tree hashes by name." }),
  },
  {
    description: "The environment of an attempt; in a bundle each key is a file, `provenance/<key>.json`.",
  },
);
export type Provenance = Static<typeof Provenance>;
