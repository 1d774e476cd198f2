import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sourceStack } from "./source-stack.ts";

let dir: string;
let bundle: string;

/** The stack of an error that a bundled module made on line 4 of `sources/faulty.ts`. */
async function bundledStack(outdir: string, sourcemap: boolean): Promise<string> {
  const entryPoints = [join(dir, "sources/faulty.ts")];
  await build({ entryPoints, outdir, sourcemap, format: "esm", minify: true, platform: "node" });
  const program = `import { fault } from ${JSON.stringify(pathToFileURL(join(outdir, "faulty.js")).href)};
    console.log(fault().stack);`;
  const args = ["--input-type=module", "--eval", program];
  return execFileSync(process.execPath, args, { encoding: "utf8", env: {} }).trimEnd(); // Vitest maps stacks by itself.
}

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "antiphon-source-stack-"));
  bundle = join(dir, "bundle");
  mkdirSync(join(dir, "sources"));
  writeFileSync(
    join(dir, "sources/faulty.ts"),
    `/** A comment that no bundle keeps. */\n\nexport function fault(): Error {\n  return new Error("broken");\n}\n`,
  );
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe("a stack", () => {
  test("names the line of the source instead of the line of the bundle", async () => {
    const stack = await bundledStack(bundle, true);
    expect(stack).toContain("bundle/faulty.js:1:");
    const shown = sourceStack(stack, bundle);
    expect(shown).toContain(`(${join(dir, "sources/faulty.ts")}:4:10)`);
    expect(shown.split("\n")).toHaveLength(stack.split("\n").length);
  });

  test("stays as it is for a bundle without a map", async () => {
    const stack = await bundledStack(join(dir, "bare"), false);
    expect(sourceStack(stack, join(dir, "bare"))).toBe(stack);
  });

  test("stays as it is where a message looks like a frame of a file elsewhere", () => {
    const stack = "Error: x\n    at read (file:///etc/passwd.js:1:1)\n    at file:///other/a.js:1:2";
    expect(sourceStack(stack, bundle)).toBe(stack);
  });

  test("stays as it is where a message names a map outside the bundle by a way that begins in it", async () => {
    await bundledStack(join(dir, "other"), true);
    const stack = `Error: x\n    at read (${pathToFileURL(bundle).href}/../other/faulty.js:1:30)`;
    expect(sourceStack(stack, bundle)).toBe(stack);
  });

  test("names a source that is no file as its map does", async () => {
    const stack = await bundledStack(bundle, true);
    const map = join(bundle, "faulty.js.map");
    const text = readFileSync(map, "utf8");
    writeFileSync(map, text.replace(/"sources":\s*\[[^\]]*\]/, '"sources":["webpack://app/a.ts"]'));
    const copy = join(dir, "copy");
    cpSync(bundle, copy, { recursive: true });
    expect(sourceStack(stack.replaceAll(bundle, copy), copy)).toContain("webpack://app/a.ts:4:10");
  });
});
