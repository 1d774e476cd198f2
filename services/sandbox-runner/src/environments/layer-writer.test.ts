import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHash } from "node:crypto";
import { Refusal } from "../workspace/refusal.ts";
import { TarReader, type TarEntry } from "../workspace/tar-reader.ts";
import { LayerWriter, type LayerBounds } from "./layer-writer.ts";
import { subArchive } from "./sub-archive.ts";

let directory: string;
beforeAll(() => (directory = mkdtempSync(join(tmpdir(), "antiphon-layer-"))));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const LARGE: LayerBounds = { maxBytes: 1e9, maxFiles: 1e6 };
const deep = `${"d/".repeat(80)}file.js`;

function put(
  sink: ReturnType<LayerWriter["sink"]>,
  path: string,
  more: Partial<TarEntry> = {},
  body = "",
): void {
  sink.entry({ path, type: "file", mode: 0o644, size: body.length, link: "", mtimeS: 5, ...more });
  if (body !== "") sink.data(Buffer.from(body));
  sink.end();
}

function read(tar: Buffer): (readonly [path: string, what: string])[] {
  const found: [string, string][] = [];
  const reader = new TarReader({
    entry: ({ path, type, link, mtimeS }) =>
      void found.push([path, type === "file" ? `${mtimeS}:` : `${type} ${link}`]),
    data: (piece) => void (found.at(-1)![1] += piece.toString("utf8")),
    end: () => undefined,
  });
  reader.push(tar);
  reader.finish();
  return found;
}

async function part(tar: Buffer, top: "workspace" | "home") {
  // In small pieces, as a disk may give it.
  const pieces = (async function* () {
    for (let at = 0; at < tar.length; at += 700) yield tar.subarray(at, at + 700);
  })();
  const out: Buffer[] = [];
  for await (const piece of subArchive(pieces, top)) out.push(piece);
  return read(Buffer.concat(out));
}

test("a layer holds both directories, and each can be read back as a tar of its own", async () => {
  const path = join(directory, "a.tar");
  const writer = new LayerWriter(path, LARGE);
  const workspace = writer.sink("workspace", (file) => file === "tracked.js");
  put(workspace, "./node_modules/a.js", {}, "one");
  put(workspace, "./tracked.js", {}, "two");
  put(workspace, `./${deep}`, {}, "three");
  put(workspace, "./b.js", { type: "hardlink", link: "./node_modules/a.js" });
  const home = writer.sink("home", () => false);
  put(home, "./.venv/", { type: "directory", mode: 0o755 });
  put(home, "./.venv/python", { type: "symlink", link: "/usr/bin/python3" });
  const { sha256, files, bytes } = await writer.finish();
  const tar = readFileSync(path);
  expect([files, bytes, sha256]).toEqual([2, tar.length, createHash("sha256").update(tar).digest("hex")]);
  expect(await part(tar, "workspace")).toEqual([
    ["node_modules/a.js", "5:one"],
    [deep, "5:three"],
    ["b.js", "hardlink node_modules/a.js"],
  ]);
  expect(await part(tar, "home")).toEqual([
    [".venv/", "directory "],
    [".venv/python", "symlink /usr/bin/python3"],
  ]);
});

test.each<[string, LayerBounds, (sink: ReturnType<LayerWriter["sink"]>) => void]>([
  ["too-many-bytes", { ...LARGE, maxBytes: 4096 }, (sink) => put(sink, "a", { size: 5000 })],
  ["too-many-files", { ...LARGE, maxFiles: 1 }, (sink) => (put(sink, "a"), put(sink, "b"))],
  ["type-hardlink", LARGE, (sink) => put(sink, "b", { type: "hardlink", link: "./tracked" })],
])("a layer that breaks a bound is refused by the rule %s", async (rule, bounds, write) => {
  const writer = new LayerWriter(join(directory, `${rule}.tar`), bounds);
  expect(() => write(writer.sink("workspace", () => false))).toThrow(expect.objectContaining({ rule }));
  expect(Refusal.name).toBe("Refusal");
  await writer.abandon();
});
