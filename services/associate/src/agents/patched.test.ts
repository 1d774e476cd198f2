import { describe, expect, it } from "vitest";
import type { AgentContext, Change, PatchedFile } from "../ports.ts";
import { changeOf } from "./patched.ts";

const CHANGE: Change = { files: [], deletions: ["old.txt"] };
const RENAME =
  "diff --git a/old.txt b/new.txt\nsimilarity index 100%\nrename from old.txt\nrename to new.txt\n";

function over(files: readonly PatchedFile[]): AgentContext {
  const trees = { check: () => files, apply: () => Promise.resolve(CHANGE) };
  return { dispatch: { base: {} }, trees } as unknown as AgentContext;
}

describe("a given patch", () => {
  it.each(["new.txt", "old.txt"])("may declare a rename under %s, one of its two names", async (path) => {
    const patch = { files: [{ path, diff: RENAME }] };
    expect(await changeOf(patch, over([{ path: "new.txt", from: "old.txt" }]))).toBe(CHANGE);
  });

  it("is refused when it changes a file that it does not declare", async () => {
    const patch = { files: [{ path: "new.txt", diff: RENAME }] };
    const changed = changeOf(patch, over([{ path: "other.txt", from: null }]));
    await expect(changed).rejects.toMatchObject({ code: "ANT_PATCH_PATH" });
  });
});
