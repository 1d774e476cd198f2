/** Every `antiphon` command loads some modules before it does anything. Prompts, hooks and completions wait for them. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, it, onTestFinished } from "vitest";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const MAIN = "cli/src/main.ts";

const { inputs } = (
  await build({
    absWorkingDir: ROOT,
    entryPoints: [MAIN],
    outdir: "none",
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    external: ["cpu-features", "*.node"],
    logLevel: "silent",
  })
).metafile;

/** The files that `entry` imports, and those that they import, except what is imported when it is needed. */
function importedAtOnce(entry: string): string[] {
  const found = new Set([entry]);
  for (const file of found)
    for (const { path, kind, external } of inputs[file]?.imports ?? [])
      if (kind !== "dynamic-import" && external !== true) found.add(path);
  return [...found];
}

it("no command loads schemas, parsers or the fold of a run before it needs them", () => {
  const files = importedAtOnce(MAIN);
  expect(files).toContain("cli/src/verbs/run.ts");
  const packages = files.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
  expect([...new Set(packages)]).toEqual(["commander"]);
  expect(files.filter((file) => file.startsWith("run/"))).toEqual([]);
  expect(files).not.toContain("contracts/src/index.ts");
});

it("a package is imported late through a module of ours, because a CommonJS one loses its named exports in the bundle", () => {
  const late = Object.entries(inputs)
    .filter(([file]) => file.startsWith("cli/"))
    .flatMap(([, { imports }]) => imports.filter(({ kind }) => kind === "dynamic-import"));
  expect(late.length).toBeGreaterThan(20);
  expect(late.map(({ path }) => path).filter((path) => path.includes("node_modules/"))).toEqual([]);
});

it("compiled code is kept below the user's own directory, and not where other users may have put some", () => {
  const dir = mkdtempSync(join(tmpdir(), "antiphon-start-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const [home, shared] = [join(dir, "home"), join(dir, "shared")];
  for (const one of [home, shared]) mkdirSync(one);
  const { XDG_CACHE_HOME: _, ...env } = process.env;
  const version = (more: NodeJS.ProcessEnv) => {
    const options = { env: { ...env, TMPDIR: shared, ...more } };
    return spawnSync(process.execPath, [join(ROOT, "bin/antiphon.mjs"), "version"], options).status;
  };
  const noHome = join(dir, "none");
  expect([home, "", noHome].map((HOME) => version({ HOME }))).toEqual([0, 0, 0]);
  expect(existsSync(noHome)).toBe(false);
  expect(readdirSync(join(home, ".cache/antiphon/compiled"))).toHaveLength(1);
  expect(readdirSync(shared)).toEqual([]);
});
