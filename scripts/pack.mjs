#!/usr/bin/env node
/**
 * `npm run pack`: makes one npm package whose `antiphon` runs in any directory, without sources and without other packages.
 * It contains the bundles with their source maps, the set-up program with the files it reads, and the licences of what is
 * bundled. `antiphon setup` fetches nats-server and the sandbox image, which are too large for a package.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";

import { bundle, writeCommit } from "./build.mjs";
import { billOfMaterials, bundledPackages, noticesOf } from "./pack/bundled-packages.mjs";
import { ROOT, STATE_DIR } from "../setup/checkout.mjs";
import { reasonOf, run } from "../setup/command.mjs";

const HELP = `usage: npm run pack [-- --out <dir>]

Makes antiphon-<version>.tgz. Install it with: npm install --global <file>

  --out <dir>  where the file goes (default .antiphon/package)
`;

/** Copied as they are; set-up finds its inputs at the same paths as in a checkout. */
const COPIED = ["agents", "bin", "setup", "deploy/images/sandbox", "LICENSE", "CHANGELOG.md"];
const README = "docs/guides/install.md";
const KEPT_FIELDS = ["name", "version", "private", "description", "license", "type", "engines", "bin"];

async function main(options) {
  if (options.includes("--help")) {
    process.stdout.write(HELP);
    return 0;
  }
  const [flag, directory] = options;
  if (flag !== undefined && (flag !== "--out" || directory === undefined)) {
    process.stderr.write(HELP);
    return 2;
  }
  const out = resolve(directory ?? join(STATE_DIR, "package"));
  const stage = join(out, `.stage-${process.pid}`);
  try {
    const manifest = await fill(stage);
    const packed = await run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", out], {
      cwd: stage,
    });
    if (packed.code !== 0) throw new Error(reasonOf(packed));
    const [{ filename, size }] = JSON.parse(packed.stdout);
    const file = join(out, filename);
    console.log(
      `${relative(process.cwd(), file) || file}  antiphon ${manifest.version}, ${(size / 1024 ** 2).toFixed(1)} MiB`,
    );
    return 0;
  } catch (error) {
    console.error(
      `error: the package was not made: ${error instanceof Error ? error.message : String(error)}`,
    );
    return 1;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** @param {string} stage @returns {Promise<{version: string}>} */
async function fill(stage) {
  mkdirSync(stage, { recursive: true });
  const dist = join(stage, "dist");
  const inputs = await bundle(ROOT, dist);
  writeCommit(ROOT, dist);
  for (const name of COPIED)
    cpSync(join(ROOT, name), join(stage, name), {
      recursive: true,
      filter: (path) => !path.endsWith(".test.ts"),
    });
  cpSync(join(ROOT, README), join(stage, "README.md"));
  const own = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const manifest = Object.fromEntries(KEPT_FIELDS.map((field) => [field, own[field]]));
  writeFileSync(join(stage, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const packages = bundledPackages(ROOT, inputs);
  writeFileSync(join(stage, "THIRD-PARTY.txt"), noticesOf(packages));
  writeFileSync(join(stage, "sbom.cdx.json"), `${JSON.stringify(billOfMaterials(own, packages), null, 2)}\n`);
  return own;
}

process.exitCode = await main(process.argv.slice(2));
