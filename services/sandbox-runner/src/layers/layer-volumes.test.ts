import { describe, expect, it } from "vitest";
import {
  abandoned,
  hollow,
  partLabels,
  sealedIn,
  sealLabels,
  sealName,
  sealsIn,
  surplus,
  type LayerVolume,
  type LooseFacts,
} from "./layer-volumes.ts";

const NOW = 1_000_000;
const volume = (name: string, labels: LayerVolume["labels"], createdMs = NOW): LayerVolume => ({
  name,
  labels,
  createdMs,
});
const seal = (digest: string, bytes = 1): LayerVolume => {
  const layer = { kind: "tree", digest } as const;
  return volume(sealName("i", layer, 60_720), sealLabels("i", layer, 60_720, bytes, [`files-${digest}`]));
};
const part = (name: string, owner = "me", createdMs = NOW): LayerVolume =>
  volume(name, partLabels("i", owner), createdMs);
const facts: LooseFacts = {
  nowMs: NOW,
  filling: new Set(["filling"]),
  self: "me",
  ownerState: (owner) => (owner === "living" ? "alive" : owner === "dead" ? "gone" : "unknown"),
  mostMs: 1_000,
};

describe("a layer", () => {
  it("is what its seal says, and nothing without a whole seal", () => {
    expect(sealedIn(seal("a", 7))).toMatchObject({
      kind: "tree",
      digest: "a",
      for: 60_720,
      bytes: 7,
      volumes: ["files-a"],
    });
    expect(sealedIn(part("files-a"))).toBeNull();
    expect(sealedIn(volume(sealName("i", { kind: "tree", digest: "a" }, 60_720), {}))).toBeNull(); // made by its name alone
    const environment = { kind: "environment", digest: "e" } as const;
    expect(sealedIn(volume("s", sealLabels("i", environment, "all", 1, ["only-one"])))).toBeNull();
  });

  it("is for one user when it is a tree or an owned environment, and else for all", () => {
    const found = (["tree", "environment", "owned"] as const).flatMap((kind) =>
      ([60_720, "all"] as const).map((whom) => {
        const parts = kind === "tree" ? ["a"] : ["a", "b"];
        return sealedIn(volume("s", sealLabels("i", { kind, digest: "d" }, whom, 1, parts)))?.for;
      }),
    );
    expect(found).toEqual([60_720, undefined, undefined, "all", 60_720, undefined]);
  });

  it("without its files is hollow", () => {
    expect(hollow([seal("a"), part("files-a"), seal("b")]).map(({ digest }) => digest)).toEqual(["b"]);
  });
});

describe("what is removed", () => {
  const used: Readonly<Record<string, number>> = { old: 100, new: 300, middle: 200 };
  const removed = (maxBytes: number, maxIdleMs: number): string[] =>
    surplus(
      sealsIn([seal("old", 10), seal("new", 10), seal("middle", 10)]),
      ({ digest }) => used[digest] ?? 0,
      { maxBytes, maxIdleMs },
      400,
    ).map(({ digest }) => digest);

  it("is what was unused for longest, until the rest fits", () => {
    expect(removed(30, 1_000)).toEqual([]);
    expect(removed(20, 1_000)).toEqual(["old"]);
    expect(removed(5, 1_000)).toEqual(["new", "middle", "old"]);
  });

  it("is what was unused for too long", () => {
    expect(removed(30, 250)).toEqual(["old"]);
  });

  it("is every volume that no seal names and nobody fills", () => {
    const found = [
      seal("a"),
      part("files-a"),
      part("filling"),
      part("lost"),
      part("of-the-dead", "dead"),
      part("of-the-living", "living", 0),
      part("elsewhere", "elsewhere"),
      part("elsewhere-old", "elsewhere", 0),
      volume("made-by-its-name", {}, 0),
    ];
    expect(abandoned(found, facts).map(({ name }) => name)).toEqual([
      "lost",
      "of-the-dead",
      "elsewhere-old",
      "made-by-its-name",
    ]);
  });
});
