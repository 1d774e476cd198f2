import { MemoryJournal } from "@antiphon/runtime/testing/memory-journal";
import { openRun } from "@antiphon/runtime/testing/finished-run";
import { expect, it } from "vitest";
import { exportedAgain } from "./exported-again.ts";

const RUN = "run_again";

/** The reply of a Director whose repository stores what `stored` makes of the dispatch's object. */
async function again(stored: (object: string) => readonly string[]): Promise<string[]> {
  const journal = new MemoryJournal();
  await openRun(journal, RUN);
  return exportedAgain({ runId: RUN, taskId: "T-001", epoch: 1 }, journal, {
    exportBase: (_repo, commit) =>
      Promise.resolve({ commit, tree: commit, object: `tree-${commit}.tar`, bytes: 1, files: 1 }),
    exportNamed: (_repo, _commit, object) => Promise.resolve(stored(object)),
    exportHistory: () => Promise.resolve(null),
  });
}

it("says what is in the store again", async () => {
  const names = await again((object) => [object]);
  expect(names.length).toBeGreaterThan(0);
});

it("an object that the repository did not make again is refused by its name", async () => {
  const [name = ""] = await again((object) => [object]);
  await expect(again(() => ["tree-other.tar"])).rejects.toMatchObject({
    code: "ANT_BLOB_MISSING",
    detail: expect.stringContaining(name) as string,
  });
});
