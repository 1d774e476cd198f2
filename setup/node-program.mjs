/**
 * Node and npm for images, at one version on every machine: the binary is npm's package `node-<platform>-<arch>`, which
 * holds what nodejs.org publishes, and both packages are checked against the SHA-512 of node-program.json.
 */
import { createHash } from "node:crypto";
import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import path from "node:path";

import { ROOT } from "./checkout.mjs";
import { reasonOf, run } from "./command.mjs";
import { StepFailure } from "./step-failure.mjs";

/** @typedef {{node: string, npm: string, integrity: Readonly<Record<string, string>>}} PinnedNode */

/** @type {PinnedNode} */
export const PINNED = JSON.parse(await readFile(path.join(ROOT, "setup/node-program.json"), "utf8"));
const DOWNLOAD_TIMEOUT_MS = 300_000;

/** For names that follow the contents of an image. */
export const NODE_VERSIONS = `node ${PINNED.node} npm ${PINNED.npm}`;

/**
 * Puts node, npm and npx below usr/local of a tree.
 *
 * @param {{tree: string, directory: string, note: (text: string) => void, pinned?: PinnedNode}} input
 *   directory: scratch space, removed by the caller
 */
export async function addNode({ tree, directory, note, pinned = PINNED }) {
  const binary = `node-linux-${process.arch}`;
  if (!Object.hasOwn(pinned.integrity, binary))
    throw new StepFailure(
      `there is no build of Node for images on ${process.arch}`,
      "name an image that has node in ANTIPHON_SANDBOX_IMAGE",
    );
  note(`fetching Node ${pinned.node} (about 45 MB)`);
  const node = await fetchPackage(binary, pinned.node, { directory, pinned });
  const npm = await fetchPackage("npm", pinned.npm, { directory, pinned });
  const place = path.join(tree, "usr/local");
  await mkdir(path.join(place, "bin"), { recursive: true });
  await mkdir(path.join(place, "lib/node_modules"), { recursive: true });
  await cp(path.join(node, "bin/node"), path.join(place, "bin/node"));
  await cp(npm, path.join(place, "lib/node_modules/npm"), {
    recursive: true,
    filter: (file) => !/^(docs|man)$/.test(path.relative(npm, file)),
  });
  for (const name of ["npm", "npx"])
    await symlink(`../lib/node_modules/npm/bin/${name}-cli.js`, path.join(place, "bin", name));
}

/** @param {string} name @param {string} version @param {{directory: string, pinned: PinnedNode}} into */
async function fetchPackage(name, version, { directory, pinned }) {
  const target = path.join(directory, name);
  await mkdir(target, { recursive: true });
  const args = [
    "pack",
    `${name}@${version}`,
    "--ignore-scripts",
    "--silent",
    "--pack-destination",
    directory,
  ];
  const packed = await run("npm", args, { timeoutMs: DOWNLOAD_TIMEOUT_MS });
  if (packed.code !== 0)
    throw new StepFailure(
      `${name} ${version} could not be fetched: ${reasonOf(packed)}`,
      "an npm registry has to be reachable (npm config get registry), or name an image in ANTIPHON_SANDBOX_IMAGE",
    );
  const file = path.join(directory, `${name}-${version}.tgz`);
  const digest = createHash("sha512")
    .update(await readFile(file))
    .digest("base64");
  if (`sha512-${digest}` !== pinned.integrity[name])
    throw new StepFailure(
      `the npm registry served another ${name} ${version} than the one that is pinned`,
      "do not use this registry until you know why",
    );
  const unpacked = await run("tar", ["-xzf", file, "-C", target, "--strip-components=1"]);
  if (unpacked.code !== 0)
    throw new StepFailure(`tar failed: ${reasonOf(unpacked)}`, "check the free disk space");
  return target;
}
