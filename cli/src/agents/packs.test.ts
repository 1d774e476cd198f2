import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, it } from "vitest";
import { isPinnedInstall, packAgent } from "@antiphon/contracts/runs/pack-agent";
import { findPack } from "./packs.ts";

let directory: string;
const places = { own: "/nonexistent", shipped: join(import.meta.dirname, "../../../agents") };
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "antiphon-pack-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function packOf(files: Readonly<Record<string, string>>): string {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
  const pack = {
    name: "own",
    argv: ["node", "${files}/own.mjs"],
    prompt: "stdin",
    install: { files: ["own.mjs"] },
  };
  writeFileSync(join(directory, "agent.yaml"), JSON.stringify(pack));
  return directory;
}

it("carries the content of a pack's own files, and refuses a file that is missing or does not fit", () => {
  const missing = () => findPack(packOf({}), places);
  expect(missing).toThrow(/own\.mjs: there is no such file/);
  const pack = findPack(packOf({ "own.mjs": "console.log('hi')\n" }), places);
  if (pack === null) throw new Error("no pack");
  const [command = ""] = packAgent(pack).install;
  const content = / echo (\S+) /.exec(command)?.[1] ?? "";
  expect(gunzipSync(Buffer.from(content, "base64")).toString()).toBe("console.log('hi')\n");
  const noise = Array.from({ length: 4000 }, (_, i) => (i * 2_654_435_761).toString(36)).join("");
  expect(() => findPack(packOf({ "own.mjs": noise }), places)).toThrow(/too large for a file of a pack/);
});

it("knows the shipped pack `model`, whose installation reads no work tree", () => {
  const pack = findPack("model", places);
  expect(pack === null ? [] : packAgent(pack).install.map(isPinnedInstall)).not.toContain(false);
});
