/**
 * Fetches programs for operators and some tests: the stock `nats` command line, `kubectl`, `docker-compose` and Prometheus'
 * `promtool`. Antiphon does not need them to run, so they are fetched on request only.
 */
import { copyFile, mkdir, rename, rm, symlink } from "node:fs/promises";
import path from "node:path";

import { TOOLS_DIR, workDirectory } from "./checkout.mjs";
import { run } from "./command.mjs";
import { hostDistribution, openArchive, unpackInto } from "./debian-archive.mjs";
import { buildGoProgram } from "./go-program.mjs";
import { StepFailure } from "./step-failure.mjs";

const NATS_CLI_VERSION = "0.4.0";

/**
 * @param {{note: (text: string) => void}} input
 * @returns {Promise<{outcome: "present" | "made", detail: string}>}
 */
export async function ensureNatsCli({ note }) {
  const present = await firstRunning("nats", ["--version"]);
  if (present !== null) return { outcome: "present", detail: present };
  const built = await buildGoProgram({
    packagePath: "github.com/nats-io/natscli/nats",
    name: "nats",
    version: NATS_CLI_VERSION,
    note,
  });
  if (!built.ok)
    throw new StepFailure(
      `the nats command line could not be built: ${built.reason}`,
      "install it (https://github.com/nats-io/natscli) or a Go compiler, so that it is on PATH",
    );
  return { outcome: "made", detail: NATS_CLI_VERSION };
}

/** @param {{note: (text: string) => void}} input */
export function ensureKubectl({ note }) {
  return fromDebian({
    name: "kubectl",
    args: ["version", "--client"],
    package: "kubectl",
    file: "usr/bin/kubectl",
    release: { id: "debian", codename: "sid" },
    page: "https://kubernetes.io/docs/tasks/tools",
    note,
  });
}

/** Only the program: the package would install and start a server. @param {{note: (text: string) => void}} input */
export async function ensurePromtool({ note }) {
  return fromDebian({
    name: "promtool",
    args: ["--version"],
    package: "prometheus",
    file: "usr/bin/promtool",
    release: await hostDistribution(),
    page: "https://prometheus.io/download",
    note,
  });
}

/** Version 2, which Debian 12 does not have: its package of this name is version 1. @param {{note: (text: string) => void}} input */
export function ensureCompose({ note }) {
  return fromDebian({
    name: "docker-compose",
    args: ["version"],
    says: /version v?[2-9]/,
    package: "docker-compose",
    file: "usr/libexec/docker/cli-plugins/docker-compose",
    release: { id: "debian", codename: "sid" },
    page: "https://docs.docker.com/compose/install",
    note,
  });
}

/**
 * One program out of a package of a distribution's archive.
 *
 * @param {{name: string, args: readonly string[], says?: RegExp, package: string, file: string, page: string,
 *   note: (text: string) => void, release: {id: "debian" | "ubuntu", codename: string} | null}} wanted
 * @returns {Promise<{outcome: "present" | "made", detail: string}>}
 */
async function fromDebian({ name, args, says = /./, package: from, file, release, page, note }) {
  const present = await firstRunning(name, args, says);
  if (present !== null) return { outcome: "present", detail: present };
  const remedy = `install ${name} (${page}), so that it is on PATH`;
  if (release === null || (await hostDistribution()) === null)
    throw new StepFailure(`${name} is not installed`, remedy);
  note(`fetching ${name} from Debian's archive`);
  const directory = await workDirectory(name);
  try {
    const archive = await openArchive({ ...release, directory, note });
    const tree = path.join(directory, "tree");
    await unpackInto([await archive.package(from)], tree);
    await mkdir(TOOLS_DIR, { recursive: true });
    const target = path.join(TOOLS_DIR, name);
    await copyFile(path.join(tree, file), `${target}.${process.pid}`);
    await rename(`${target}.${process.pid}`, target);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  const made = await firstRunning(name, args, says);
  if (made === null) throw new StepFailure(`${name} from Debian does not run here`, remedy);
  return { outcome: "made", detail: made };
}

/**
 * The version line of the tool in this checkout or on PATH.
 *
 * @param {string} name
 * @param {readonly string[]} args
 */
async function firstRunning(name, args, says = /./) {
  for (const program of [path.join(TOOLS_DIR, name), name]) {
    const result = await run(program, args, { timeoutMs: 5_000 });
    if (result.code !== 0 || !says.test(result.stdout)) continue;
    if (program === name) await linkFromPath(name);
    return result.stdout.trim().split("\n")[0] ?? "";
  }
  return null;
}

/** Puts it where every caller finds it. @param {string} name */
async function linkFromPath(name) {
  const found = await run("sh", ["-c", `command -v ${name}`]);
  const link = path.join(TOOLS_DIR, name);
  await mkdir(TOOLS_DIR, { recursive: true });
  await rm(link, { force: true });
  await symlink(found.stdout.trim(), link);
}
