import { createHash } from "node:crypto";
import type { Hasher } from "./collected.ts";

/** The hasher for workspace/collected.ts. */
export const sha256Hasher = (): Hasher => {
  const hash = createHash("sha256");
  return {
    update: (piece) => {
      hash.update(piece);
    },
    digest: () => hash.digest("hex"),
  };
};
