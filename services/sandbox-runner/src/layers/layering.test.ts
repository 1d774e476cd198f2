import { expect, it } from "vitest";
import { AntiphonError } from "@antiphon/contracts";
import type { BaselineEntry } from "../workspace/collected.ts";
import type { Tree } from "../workspace/tree-archive.ts";
import type { LayerStore } from "./layer-store.ts";
import { Layering } from "./layering.ts";

const store = {} as LayerStore;
const layering = () => new Layering({ store, onStreamed: () => undefined });

function treeOf(name: string, files: Readonly<Record<string, string>>, size = 1): Tree {
  const entries = Object.entries(files).map(([path, sha256]): [string, BaselineEntry] => [
    path,
    { kind: "file", mode: "100644", size, sha256 },
  ]);
  const rest = { directories: [], contentBytes: 0, tar: () => [] as never, drop: () => Promise.resolve() };
  return { name, digest: name, baseline: new Map(entries), ...rest };
}

const MANY = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`f${at}`, "same"]));
const first = treeOf("first", MANY);
const next = treeOf("next", { ...MANY, f1: "other", new: "new" });

it("a tree is mounted over the layer of a recent one that differs in few files, and its successors over the same", () => {
  const own = layering();
  expect(own.under(first)).toBe(first);
  expect(own.under(next)).toBe(first);
  expect(own.under(treeOf("third", { ...MANY, f2: "other" }))).toBe(first);
  expect(own.under(first)).toBe(first);
});

it("a copy on this machine that is not what its name says is dropped, so that it is fetched again", async () => {
  const dropped: string[] = [];
  const asked: string[] = [];
  const faulty = {
    fault: () => Promise.resolve(null),
    fill: ({ kind }: { kind: string }) => {
      asked.push(kind);
      return kind === "tree" && dropped.length === 0
        ? Promise.reject(new AntiphonError("ANT_LAYER_INVALID"))
        : Promise.resolve();
    },
  } as unknown as LayerStore;
  const own = new Layering({ store: faulty, onStreamed: () => undefined });
  const drop = (what: string) => () => Promise.resolve(void dropped.push(what));
  const tree = { ...first, drop: drop("tree") };
  const environment = { digest: "e", tar: () => [] as never, drop: drop("environment") };
  await expect(own.layersOf(tree, environment)).rejects.toMatchObject({ code: "ANT_LAYER_INVALID" });
  expect(dropped).toEqual(["tree"]);
  expect(await own.layersOf(tree, environment)).toEqual({ tree: "first", environment: "e" });
  expect(dropped).toEqual(["tree"]);
  expect(asked).toEqual(["tree", "tree", "environment"]);
});

it("a tree that differs in many files or bytes, or in all, has a layer of its own", () => {
  const own = layering();
  own.under(first);
  const changed = Object.fromEntries(
    Object.keys(MANY).map((path, at) => [path, at < 501 ? "other" : "same"]),
  );
  for (const tree of [
    treeOf("many", changed),
    treeOf("large", { ...MANY, big: "big" }, 2 ** 24),
    treeOf("none", { a: "a" }),
  ])
    expect(own.under(tree)).toBe(tree);
});

it("a layer that no recent tree was over is no longer taken", () => {
  const own = layering();
  own.under(first);
  for (const name of ["a", "b", "c", "d"]) own.under(treeOf(name, { [name]: name }));
  expect(own.under(next)).toBe(next);
});

it("where nothing can be mounted, a tree is its own", () => {
  const own = new Layering({ store: undefined, onStreamed: () => undefined });
  own.under(first);
  expect(own.under(next)).toBe(next);
});
