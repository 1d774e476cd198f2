#!/usr/bin/env node
// `antiphon decode` for `nats sub --translate`, which starts a program for each message. To start fast, it runs the last
// bundle without checking whether the sources have changed since. `antiphon` does check.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { keepCompiledCode } from "./compiled-code.mjs";
import { isTooOld, runByNewerNode } from "./newer-node.mjs";

const root = dirname(dirname(realpathSync(fileURLToPath(import.meta.url))));
const builds = join(root, ".antiphon/build");

async function bundleDir() {
  if (existsSync(join(root, "dist/decode.js"))) return join(root, "dist");
  const latest = join(builds, "latest");
  const build = existsSync(latest) ? join(builds, readFileSync(latest, "utf8").trim()) : "";
  if (existsSync(join(build, "decode.js"))) return build;
  const { ensureBuilt } = await import("../scripts/build.mjs");
  return ensureBuilt(root);
}

if (isTooOld()) await runByNewerNode(root);
keepCompiledCode();
const { main } = await import(pathToFileURL(join(await bundleDir(), "decode.js")).href);
main(process.argv.slice(2));
