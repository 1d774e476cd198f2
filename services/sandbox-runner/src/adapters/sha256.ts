import { createHash } from "node:crypto";
import type { Hasher } from "../core/collected.ts";

/** The hasher core/collected.ts asks for. */
export const sha256Hasher = (): Hasher => {
  const hash = createHash("sha256");
  return {
    update: (piece) => {
      hash.update(piece);
    },
    digest: () => hash.digest("hex"),
  };
};
