import fc from "fast-check";
import { expect, it } from "vitest";
import type { EntryChange } from "./directory.ts";
import { buildTrees, PathConflict, type TreeEntry } from "./git-object.ts";
import { KnownTrees } from "./known-trees.ts";

const part = fc.constantFrom("a", "b", "a.b", "a-", "é");
const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
const entryOf = (at: string, n: number): TreeEntry => ({
  path: at,
  mode: "100644",
  id: String(n).padStart(40, "0"),
});

function built(entries: readonly TreeEntry[]): ReturnType<typeof buildTrees> | null {
  try {
    return buildTrees("sha1", entries);
  } catch (error) {
    if (error instanceof PathConflict) return null;
    throw error;
  }
}

it("a change of known trees gives the same trees as building all of them anew", () => {
  const paths = fc.uniqueArray(path, { maxLength: 8 });
  fc.assert(
    fc.property(
      paths,
      paths,
      fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 8, maxLength: 8 }),
      (old, touched, ids) => {
        const base = old.map((at, n) => entryOf(at, n));
        const before = built(base);
        if (before === null) return;
        const after = new Map(base.map((entry) => [entry.path, entry]));
        const changes = touched.map((at, n): EntryChange => {
          const id = ids[n] ?? 0;
          if (id === 0) after.delete(at);
          else after.set(at, entryOf(at, id));
          return [at, id === 0 ? null : entryOf(at, id)];
        });
        const expected = built([...after.values()]);
        const known = new KnownTrees("sha1", base);
        if (expected === null) {
          expect(() => known.changed(changes)).toThrow(PathConflict);
          return;
        }
        const { root, fresh } = known.changed(changes);
        expect(root).toBe(expected.root);
        const wanted = [...expected.trees.keys()].filter((id) => !before.trees.has(id));
        expect(fresh.map(({ id }) => id).sort()).toEqual(wanted.sort());
      },
    ),
    { numRuns: 500 },
  );
});

it("a change makes only the trees on the way to it, and leaves the known ones as they are", () => {
  const base = ["a/b/c", "a/d", "e/f"].map((at, n) => entryOf(at, n));
  const known = new KnownTrees("sha1", base);
  const change: EntryChange[] = [["a/b/c", entryOf("a/b/c", 9)]];
  const first = known.changed(change);
  expect(first.fresh).toHaveLength(3);
  expect(known.changed([])).toEqual({ root: buildTrees("sha1", base).root, fresh: [] });
  expect(known.changed(change)).toEqual(first);
});
