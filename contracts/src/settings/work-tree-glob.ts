import { Type } from "typebox";

/** A path or glob of a file that an agent leaves in the work tree. */
export const inWorkTree = (description: string) =>
  Type.String({ minLength: 1, maxLength: 1024, pattern: "^[^/\\u0000][^\\u0000]*$", description });
