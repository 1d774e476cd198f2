/**
 * Provides a sandbox image with toolchains: the standard image's packages and those of the named toolchains
 * (toolchains.mjs), built from Debian packages. Its name holds a hash of its inputs, so it is built once and found again.
 *
 * It is allowed by nobody yet: `antiphon images build --with` asks the sandbox-runner to try it and to allow its digest.
 */
import { access, cp, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";

import { contentHash, ROOT, workDirectory } from "./checkout.mjs";
import { hostDistribution } from "./debian-archive.mjs";
import { call, imageId, importImage, runOnce } from "./docker-api.mjs";
import { fetchGoRoot } from "./go-program.mjs";
import { NODE_VERSIONS } from "./node-program.mjs";
import { CHANGES, packageNames } from "./sandbox-image.mjs";
import { buildRootfs } from "./sandbox-rootfs.mjs";
import { StepFailure } from "./step-failure.mjs";
import { TOOLCHAINS } from "./toolchains.mjs";

const REPOSITORY = "antiphon-sandbox-with";
const SOURCES = [
  "deploy/images/sandbox",
  "setup/go-program.mjs",
  "setup/node-program.mjs",
  "setup/sandbox-image.mjs",
  "setup/sandbox-rootfs.mjs",
  "setup/toolchain-image.mjs",
  "setup/toolchains.mjs",
];

/** @param {string} text `go,rust` @returns {string[]} */
export function toolchainNames(text) {
  const names = [...new Set(text.split(",").map((name) => name.trim()))].sort();
  const unknown = names.find((name) => !Object.hasOwn(TOOLCHAINS, name));
  if (unknown === undefined) return names;
  throw new StepFailure(
    `there is no toolchain called ${JSON.stringify(unknown)}`,
    `name some of ${Object.keys(TOOLCHAINS).join(", ")}, separated by commas`,
  );
}

/**
 * @param {{address: import("./docker-api.mjs").EngineAddress, names: readonly string[], note: (text: string) => void}} input
 * @returns {Promise<{outcome: "present" | "made", detail: string, ref: string}>}
 */
export async function ensureToolchainImage({ address, names, note }) {
  const host = await hostDistribution();
  if (host === null)
    throw new StepFailure(
      "an image with toolchains is built from Debian packages, which needs Debian or Ubuntu",
      "load an image that has them into the engine, then: antiphon images allow <its name>",
    );
  const hash = await contentHash({
    texts: [NODE_VERSIONS, process.arch, host.codename],
    paths: SOURCES.map((one) => path.join(ROOT, one)),
  });
  const ref = `${REPOSITORY}-${names.join("-")}:${hash}`;
  if ((await imageId(address, ref)) !== null) return { outcome: "present", detail: ref, ref };
  await build(address, ref, names, note);
  await checkPrograms(address, ref, names);
  return { outcome: "made", detail: ref, ref };
}

/** @param {import("./docker-api.mjs").EngineAddress} address @param {string} ref @param {readonly string[]} names @param {(text: string) => void} note */
async function build(address, ref, names, note) {
  const chosen = names.flatMap((name) => TOOLCHAINS[name] ?? []);
  const directory = await workDirectory("toolchain-image");
  const tarFile = path.join(directory, "image.tar");
  try {
    note(`fetching Debian packages for ${names.join(", ")} (about a minute)`);
    await buildRootfs({
      packages: [...(await packageNames()), ...chosen.flatMap(({ packages }) => packages)],
      directory,
      tarFile,
      note,
      extend: async (tree) => {
        for (const { links = {} } of chosen) await link(tree, links);
        if (names.includes("php")) await enablePhpExtensions(tree);
        if (names.includes("go")) await addGo(tree, path.join(directory, "go"), note);
      },
    });
    const [repository = "", tag = ""] = ref.split(":");
    await importImage(address, { repository, tag, tarFile, changes: CHANGES });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** @param {string} tree @param {Readonly<Record<string, string>>} links */
async function link(tree, links) {
  for (const [name, pattern] of Object.entries(links)) {
    const place = path.join(tree, name);
    const target = await existing(path.dirname(place), pattern);
    await mkdir(path.dirname(place), { recursive: true });
    await rm(place, { force: true });
    await symlink(target, place);
    await access(place).catch(() => {
      throw new StepFailure(`${name} would lead to ${target}, which the packages do not have`, "report this");
    });
  }
}

/** The pattern with its `*` replaced by what a directory of the tree holds. @param {string} from @param {string} pattern */
async function existing(from, pattern) {
  const parts = pattern.split("/");
  const at = parts.findIndex((part) => part.endsWith("*"));
  if (at === -1) return pattern;
  const prefix = (parts[at] ?? "").slice(0, -1);
  const names = await readdir(path.join(from, ...parts.slice(0, at)));
  parts[at] = names.sort().find((name) => name.startsWith(prefix)) ?? prefix;
  return parts.join("/");
}

/** What Debian's php packages do when they are installed: an .ini file for each extension. @param {string} tree */
async function enablePhpExtensions(tree) {
  const share = path.join(tree, "usr/share");
  const versions = await readdir(path.join(tree, "etc/php"));
  const target = path.join(tree, "etc/php", versions[0] ?? "", "cli/conf.d");
  await mkdir(target, { recursive: true });
  const found = await readdir(share, { recursive: true, withFileTypes: true });
  const files = found.filter(
    (file) => /\/php\d[^/]*\/[^/]+$/.test(file.parentPath) && file.name.endsWith(".ini"),
  );
  for (const { name, parentPath } of files) {
    const text = await readFile(path.join(parentPath, name), "utf8");
    const priority = /priority=(\d+)/.exec(text)?.[1] ?? "20";
    await writeFile(path.join(target, `${priority}-${name}`), text);
  }
}

/** @param {string} tree @param {string} directory @param {(text: string) => void} note */
async function addGo(tree, directory, note) {
  const { root, share } = await fetchGoRoot(directory, note);
  const target = path.join(tree, "usr/local/go");
  // The package's links lead to its other half below /usr/share, so both become one directory.
  await cp(share, target, { recursive: true });
  await cp(root, target, { recursive: true, dereference: true, force: true });
  for (const name of ["go", "gofmt"])
    await symlink(`../go/bin/${name}`, path.join(tree, "usr/local/bin", name));
}

/** @param {import("./docker-api.mjs").EngineAddress} address @param {string} ref @param {readonly string[]} names */
async function checkPrograms(address, ref, names) {
  const programs = names.flatMap((name) => TOOLCHAINS[name]?.programs ?? []);
  const script = programs.map((line) => `out=$(${line} 2>&1) || echo "${line} ($out)"`);
  const { output } = await runOnce(address, ref, ["bash", "-c", script.join("\n")]);
  if (output.trim() === "") return;
  await call(address, "DELETE", `/images/${ref}?force=1`);
  throw new StepFailure(
    `the image does not run ${output.trim().split(/\r?\n/).join(" ")}`,
    "run the command again with fewer toolchains, or load an image of your own and allow it",
  );
}
