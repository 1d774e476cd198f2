#!/usr/bin/env node
// The `antiphon` command. In a checkout it rebuilds the bundle when the sources have changed, then runs it. An image
// holds no sources, so there the bundle runs unchanged.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { keepCompiledCode } from "./compiled-code.mjs";
import { isTooOld, runByNewerNode } from "./newer-node.mjs";

const root = dirname(dirname(realpathSync(fileURLToPath(import.meta.url))));

const NEWER_NODE = "install Node 24 or newer (nodejs.org); in a checkout, `npm run setup` brings one";

function tell(code, message, remedy) {
  if (process.argv.includes("--json"))
    process.stdout.write(`${JSON.stringify({ error: { code, message, remedy } })}\n`);
  process.stderr.write(`error ${code}: ${message}\nremedy: ${remedy}\n`);
}

function fail(code, message, remedy) {
  tell(code, message, remedy);
  process.exit(2);
}

// Node exits with 13, silently, when a top-level await can never settle.
process.on("exit", (code) => {
  if (code !== 13 && process.exitCode !== 13) return;
  tell(
    "ANT_COMMAND_STALLED",
    "the command ended before its work was done: it waited for an answer that could no longer arrive",
    "run it again; a run it started may still be running, `antiphon runs` shows it. If it happens again, report it with the command line",
  );
  process.exit(1);
});

async function bundleDir() {
  if (!existsSync(join(root, "scripts/build.mjs"))) return prebuilt();
  if (!existsSync(join(root, "node_modules/esbuild"))) {
    fail("ANT_SETUP_MISSING", "the npm packages are not installed", `run "npm run setup" in ${root}`);
  }
  const { ensureBuilt, lease } = await import("../scripts/build.mjs");
  const onBuild = () =>
    process.stderr.isTTY && process.stderr.write("antiphon: building (sources changed)\n");
  try {
    const build = await ensureBuilt(root, { onBuild });
    process.on("exit", lease(build));
    return build;
  } catch (error) {
    const { code, path = join(root, ".antiphon"), message } = error;
    if (["EACCES", "EPERM", "EROFS"].includes(code))
      return fail(
        "ANT_STATE_UNWRITABLE",
        `${path} cannot be written (${code}); the bundle of this checkout is stored there`,
        "run it as the owner of the checkout, or use a clone of your own",
      );
    if (code === "ENOSPC" || code === "EDQUOT")
      return fail(
        "ANT_STATE_DISK_FULL",
        `${path}: ${message}`,
        "free some space there (df -h), then run it again",
      );
    return fail("ANT_BUILD_FAILED", error.message.trim(), "correct the source file that the message names");
  }
}

function prebuilt() {
  const builds = join(root, ".antiphon/build");
  for (const dir of [join(root, "dist"), builds]) if (existsSync(join(dir, "cli.js"))) return dir;
  const latest = join(builds, "latest");
  if (existsSync(latest)) return join(builds, readFileSync(latest, "utf8").trim());
  return fail("ANT_SETUP_MISSING", "there is no bundle and no source to build it from", "reinstall Antiphon");
}

if (isTooOld() && !(await runByNewerNode(root)))
  fail("ANT_NODE_TOO_OLD", `Node ${process.versions.node} is too old`, NEWER_NODE);
keepCompiledCode();
const bundle = await bundleDir();
// Only services need source lines in their stack traces; other commands start 20 ms sooner without source maps.
if (process.argv[2] === "serve") process.setSourceMapsEnabled(true);
const { main } = await import(pathToFileURL(join(bundle, "cli.js")).href);
await main({ argv: process.argv.slice(2), root, bundle });
