/**
 * Makes the sandbox's root file system without an image registry: the Debian packages of
 * deploy/images/sandbox/packages.txt with their dependencies, unpacked side by side, plus Node and npm of
 * node-program.json. No maintainer script runs, so neither root nor a chroot is needed; the effects that the sandbox needs
 * are produced here. The tree follows this machine's release, or the one that is asked for.
 */
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";

import { reasonOf, run } from "./command.mjs";
import { hostDistribution, openArchive, unpackInto } from "./debian-archive.mjs";
import { addNode } from "./node-program.mjs";
import { StepFailure } from "./step-failure.mjs";

/** The one user of the sandbox; nothing in the image belongs to it but its home. */
export const SANDBOX_UID = 65532;
/** Every sandbox of an engine has one of these to itself; services/sandbox-runner/src/providers/sandbox-uids.ts says why. */
const OWN_UIDS = { first: 60_720, count: 448 };

/** Packages that only serve to install packages; their dependants never call them at run time. */
const INSTALLERS = ["debconf", "dpkg", "usrmerge", "init-system-helpers"];

/** Documentation and translations, which no sandbox needs. */
const UNWANTED = [
  "./usr/share/doc/*",
  "./usr/share/doc-base/*",
  "./usr/share/man/*",
  "./usr/share/info/*",
  "./usr/share/locale/*",
  "./usr/share/lintian/*",
  "./usr/share/bug/*",
  "./usr/share/bash-completion/*",
  "./usr/lib/gcc/*/lib[alt]san.a",
  "./usr/lib/gcc/*/libubsan.a",
];

/** Names that Debian's alternatives would have pointed somewhere. */
const ALTERNATIVES = {
  awk: "mawk",
  nawk: "mawk",
  cc: "gcc",
  c99: "gcc",
  python: "python3",
  which: "which.debianutils",
};

/**
 * Makes the tree and packs it into one uncompressed tar.
 *
 * @param {object} input
 * @param {readonly string[]} input.packages
 * @param {string} input.directory scratch space, removed by the caller
 * @param {string} input.tarFile
 * @param {(text: string) => void} input.note
 * @param {(tree: string) => Promise<void>} [input.extend] adds to the tree before it is packed
 * @param {{id: "debian" | "ubuntu", codename: string}} [input.release] default: this machine's
 * @param {import("./node-program.mjs").PinnedNode} [input.node] default: that of node-program.json
 */
export async function buildRootfs({ packages, directory, tarFile, note, extend, release, node }) {
  const host = release ?? (await hostDistribution());
  if (host === null)
    throw new StepFailure(
      "the sandbox image needs an image registry here: only Debian and Ubuntu can build it from packages",
      "give the Docker engine access to docker.io, or load an image and name it in ANTIPHON_SANDBOX_IMAGE",
    );
  const archive = await openArchive({ ...host, directory: path.join(directory, "apt"), note });
  const debs = await archive.closure(packages);
  const tree = path.join(directory, "tree");
  await mergedDirectories(tree);
  await unpackInto(
    debs.filter((file) => !INSTALLERS.includes(packageOf(file))),
    tree,
    UNWANTED,
  );
  await configure(tree);
  await addNode({ tree, directory, note, ...(node === undefined ? {} : { pinned: node }) });
  await extend?.(tree);
  await pack(tree, tarFile);
}

/** @param {string} deb a file `name_version_arch.deb` */
const packageOf = (deb) => path.basename(deb).split("_")[0] ?? "";

/** /bin, /sbin and /lib are links into /usr before the first package is unpacked. @param {string} tree */
async function mergedDirectories(tree) {
  for (const name of ["bin", "sbin", "lib", "lib64"]) {
    await mkdir(path.join(tree, "usr", name), { recursive: true });
    await symlink(`usr/${name}`, path.join(tree, name));
  }
}

/** The effects of maintainer scripts that the sandbox needs. @param {string} tree */
async function configure(tree) {
  const at = (/** @type {string} */ name) => path.join(tree, name);
  for (const name of [
    "dev",
    "etc",
    "proc",
    "sys",
    "run",
    "tmp",
    "var/tmp",
    "root",
    "workspace",
    "usr/local/bin",
  ])
    await mkdir(at(name), { recursive: true });
  // One name for all: a program that asks for its user's name gets the same answer in every sandbox.
  const own = Array.from({ length: OWN_UIDS.count }, (_, at) => OWN_UIDS.first + at);
  const ids = [SANDBOX_UID, ...own];
  const users = [
    "root:x:0:0:root:/root:/bin/bash",
    ...ids.map((id) => `sandbox:x:${id}:${id}:sandbox:/workspace:/bin/bash`),
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin",
  ];
  const groups = ["root:x:0:", ...ids.map((id) => `sandbox:x:${id}:`), "nogroup:x:65534:"];
  await writeFile(at("etc/passwd"), `${users.join("\n")}\n`);
  await writeFile(at("etc/group"), `${groups.join("\n")}\n`);
  await writeFile(at("etc/nsswitch.conf"), "passwd: files\ngroup: files\nhosts: files dns\n");
  for (const [name, target] of Object.entries(ALTERNATIVES)) {
    if (!(await exists(at(`usr/bin/${target}`)))) continue;
    await rm(at(`usr/bin/${name}`), { force: true });
    await symlink(target, at(`usr/bin/${name}`));
  }
  const certificates = at("usr/share/ca-certificates/mozilla");
  const names = (await readdir(certificates)).filter((name) => name.endsWith(".crt")).sort();
  const bundle = await Promise.all(names.map((name) => readFile(path.join(certificates, name), "utf8")));
  await mkdir(at("etc/ssl/certs"), { recursive: true });
  await writeFile(at("etc/ssl/certs/ca-certificates.crt"), bundle.join(""));
  // The cache of libraries only makes programs start faster. Without root, ldconfig cannot chroot and writes none.
  await run("ldconfig", ["-r", tree]);
}

/** @param {string} file */
const exists = (file) =>
  stat(file).then(
    () => true,
    () => false,
  );

/**
 * Makes one tar for the engine: all files belong to root, without set-uid and set-gid bits, except for the sandbox user's
 * home, which is appended.
 *
 * @param {string} tree
 * @param {string} tarFile
 */
async function pack(tree, tarFile) {
  const owner = (/** @type {number} */ id) => ["--numeric-owner", `--owner=${id}`, `--group=${id}`];
  const steps = [
    ["-cf", tarFile, "-C", tree, ...owner(0), "--mode=ug-s", "--sort=name", "--exclude=./workspace", "."],
    ["-rf", tarFile, "-C", tree, ...owner(SANDBOX_UID), "./workspace"],
  ];
  await rm(tarFile, { force: true });
  for (const args of steps) {
    const result = await run("tar", args, { timeoutMs: 300_000 });
    if (result.code !== 0)
      throw new StepFailure(
        `the sandbox image could not be packed: ${reasonOf(result)}`,
        "check the free space of this disk, then run npm run setup again",
      );
  }
}
