import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HOSTILE_ARCHIVES as HOSTILE, KEPT, file } from "../../../../test/support/hostile-archives.ts";
import { rawTar } from "../../../../test/support/raw-tar.ts";
import { Collector, type Baseline, type Collected, type Hasher } from "./collected.ts";
import { REFUSAL_RULES, Refusal } from "./refusal.ts";
import { TarReader } from "./tar-reader.ts";
import { canonicalTar } from "./tar-writer.ts";

const sha256 = (bytes: string | Buffer): string => createHash("sha256").update(bytes).digest("hex");
const newHasher = (): Hasher => {
  const hash = createHash("sha256");
  return { update: (piece) => void hash.update(piece), digest: () => hash.digest("hex") };
};
const bounds = { maxEntries: 20, maxFiles: 4, maxBytes: 4096 };
const baseline: Baseline = new Map([
  ["kept.txt", { kind: "file", mode: "100644", size: 4, sha256: sha256("kept") }],
  ["link", { kind: "symlink", target: "kept.txt" }],
  ["huge", { kind: "file", mode: "100644", size: 8192, sha256: sha256(Buffer.alloc(8192)) }],
  ["odd\\name", { kind: "file", mode: "100644", size: 1, sha256: sha256("o") }],
]);

function collect(tar: Buffer, pieceBytes = tar.length): Collected {
  const collector = new Collector(baseline, bounds, newHasher);
  const reader = new TarReader(collector);
  for (let at = 0; at < tar.length; at += pieceBytes) reader.push(tar.subarray(at, at + pieceBytes));
  reader.finish();
  return collector.result();
}

function refusalOf(tar: Buffer, pieceBytes?: number): string {
  try {
    collect(tar, pieceBytes);
  } catch (error) {
    if (error instanceof Refusal) return error.rule;
    throw error;
  }
  return "nothing";
}

describe("the content that comes out of a sandbox", () => {
  it.each(HOSTILE)("sandbox-runner/S5: %s is refused by its rule", (_name, tar, rule) => {
    expect(refusalOf(tar)).toBe(rule);
    expect(refusalOf(tar, 7)).toBe(rule); // also when the stream is cut into small pieces
  });

  it(`every rule is tested with an archive (${HOSTILE.length} archives)`, () => {
    const rules = Object.keys(REFUSAL_RULES).filter((rule) => rule !== "ignore-work"); // ignore-rules.test.ts
    expect([...new Set(HOSTILE.map(([, , rule]) => rule))].sort()).toEqual(rules.sort());
  });

  it("is the same in any order of the archive, with modes and hashes", () => {
    const entries = [...KEPT, file("b", { mode: 0o755 }), file("a/é"), { name: "a/", type: "5" }];
    const expected = {
      files: [
        { path: "a/é", mode: "100644", content: Buffer.from("x"), sha256: sha256("x") },
        { path: "b", mode: "100755", content: Buffer.from("x"), sha256: sha256("x") },
      ],
      deletions: [],
    };
    expect(collect(rawTar(...entries))).toEqual(expected);
    expect(collect(rawTar(...entries.toReversed()))).toEqual(expected);
  });

  it("reports changed content, changed modes and deletions", () => {
    const { files, deletions } = collect(
      rawTar({ name: "kept.txt", content: "kepT" }, { name: "odd\\name", content: "o", mode: 0o4755 }),
    );
    expect(files.map(({ path, mode }) => [path, mode])).toEqual([
      ["kept.txt", "100644"],
      ["odd\\name", "100755"],
    ]);
    expect(deletions).toEqual(["huge", "link"]);
  });

  it("skips the sandbox's own repository with all its content", () => {
    const { files } = collect(
      rawTar(
        ...KEPT,
        file(".git/config"),
        { name: "sub/.git/hooks/x", type: "2", link: "/bin/sh" },
        file("new"),
      ),
    );
    expect(files.map(({ path }) => path)).toEqual(["new"]);
  });

  it("does not include, count or refuse ignored paths, even links", () => {
    const ignores = (path: string): boolean => path.startsWith("node_modules/");
    const collector = new Collector(baseline, bounds, newHasher, ignores);
    const reader = new TarReader(collector);
    const modules = Array.from({ length: 8 }, (_, i) =>
      file(`node_modules/${i}`, { content: Buffer.alloc(4096) }),
    );
    const link = { name: "node_modules/.bin/x", type: "2", link: "../0" };
    reader.push(rawTar(...KEPT, ...modules, link, file("new")));
    reader.finish();
    expect(collector.result().files.map(({ path }) => path)).toEqual(["new"]);
  });

  it("judges a path that was there before, even if a rule ignores it", () => {
    const collector = new Collector(baseline, bounds, newHasher, () => true);
    const reader = new TarReader(collector);
    expect(() => {
      reader.push(rawTar({ name: "kept.txt", type: "2", link: "/etc/passwd" }));
    }).toThrow("type-symlink");
  });

  it("a link that points elsewhere than before is refused as moved, not as new", () => {
    const collector = new Collector(baseline, bounds, newHasher);
    const reader = new TarReader(collector);
    expect(() => {
      reader.push(rawTar({ name: "link", type: "2", link: "elsewhere.txt" }));
    }).toThrow(/type-symlink-moved: .*points elsewhere/);
  });

  it("reads back its own archives: long names, modes, empty files", () => {
    const files = [
      { path: "z/empty", mode: "100644" as const, content: Buffer.alloc(0) },
      { path: `${"d".repeat(99)}/${"ü".repeat(60)}`, mode: "100755" as const, content: Buffer.from("long") },
      { path: "a", mode: "100644" as const, content: Buffer.alloc(1024, 7) },
    ];
    const tar = canonicalTar(files);
    expect(canonicalTar(files.toReversed()).equals(tar)).toBe(true);
    const collector = new Collector(new Map(), bounds, newHasher);
    const reader = new TarReader(collector);
    reader.push(tar);
    reader.finish();
    expect(collector.result().files.map(({ path, mode, content }) => [path, mode, content.length])).toEqual([
      ["a", "100644", 1024],
      [files[1]?.path, "100755", 4],
      ["z/empty", "100644", 0],
    ]);
  });

  it("sandbox-runner/S5: any bytes are accepted or refused by a rule, without another error", () => {
    const bytes = fc.uint8Array({ minLength: 512, maxLength: 4096 });
    fc.assert(
      fc.property(bytes, fc.nat({ max: 3 }), (noise, keep) => {
        const tar = rawTar(file("a"), file("b"), { name: "d/", type: "5" });
        Buffer.from(noise).copy(tar, keep * 200, 0, 40);
        expect(["nothing", ...Object.keys(REFUSAL_RULES)]).toContain(refusalOf(tar));
        expect(Object.keys(REFUSAL_RULES)).toContain(
          refusalOf(Buffer.concat([Buffer.from([1]), Buffer.from(noise)])),
        );
      }),
    );
  });
});
