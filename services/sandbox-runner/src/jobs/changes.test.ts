import { expect, test } from "vitest";
import { encode } from "@antiphon/contracts";
import type { Collected } from "../workspace/collected.ts";
import { treeNow } from "./changes.ts";

/** Everything that treeNow reads of a job whose commands removed these files. */
async function removed(deletions: readonly string[]) {
  const said: string[] = [];
  const collected = { files: [], deletions } as unknown as Collected;
  const job = {
    workspace: { baseline: new Map(), bounds: {} },
    ports: {
      evidence: { changes: () => Promise.resolve({ overlay: null, files: [], deletions: [...deletions] }) },
      progress: (text: string) => said.push(text),
    },
  };
  const tree = await treeNow(job as never, { peek: () => Promise.resolve(collected) } as never);
  return { tree, said };
}

test("a list of removed files that would not fit a message is left out of the question, and people are told", async () => {
  const long = (i: number): string => `${i}`.padStart(6, "0").padEnd(1024, "x");
  const listOf = (length: number, path: (i: number) => string) => Array.from({ length }, (_, i) => path(i));
  const { tree, said } = await removed(listOf(1500, long));
  expect(tree).toBeNull();
  expect(said).toEqual([
    "the files at the question are not kept: the list of removed files does not fit a message",
  ]);
  for (const fits of [listOf(200, long), listOf(20_000, (i) => `${i}`)]) {
    const kept = await removed(fits);
    expect(kept.tree?.deletions).toEqual(fits);
    expect(encode(kept.tree ?? {}).length).toBeLessThan(512 * 1024);
  }
});
