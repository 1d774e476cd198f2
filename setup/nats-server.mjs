/**
 * Provides a nats-server that is new enough for the journal. Older ones accept atomic batches, counters and schedules but
 * silently ignore them, and have fsync holes before 2.15. It is taken from the first place that has one:
 * NATS_SERVER_BIN, PATH, this checkout's tools, a pinned release, Debian's archive, Go source.
 */
import { createHash } from "node:crypto";
import { copyFile, mkdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";

import { TOOLS_DIR, workDirectory } from "./checkout.mjs";
import { reasonOf, run } from "./command.mjs";
import { hostDistribution, openArchive, unpackInto } from "./debian-archive.mjs";
import { buildGoProgram } from "./go-program.mjs";
import { StepFailure } from "./step-failure.mjs";

const NEEDED = [2, 15];
const BINARY = path.join(TOOLS_DIR, "nats-server");
/** A download site that does not answer at once counts as absent. */
const CONNECT_TIMEOUT_MS = 4_000;
const TRANSFER_TIMEOUT_MS = 300_000;

/** The release and the sha256 of its archives, from the release's own SHA256SUMS. */
const RELEASE = {
  version: "2.15.0",
  sha256: {
    "linux-amd64": "5d2c51caca950333aba84911df7d377f826f3a59ec36061c6539105084f65c92",
    "linux-arm64": "cdc208f5a3f42963a52b6ab06ef65626bb870315dc936e26ba571780c6351112",
    "darwin-arm64": "e1c4e22d70bd44abfa0bcb3c16f7cf0c66f648c2e728c58924e8a1ce88913cc8",
  },
};

/** @typedef {{ok: true} | {ok: false, reason: string}} Attempt */

/**
 * @param {{note: (text: string) => void}} input
 * @returns {Promise<{outcome: "present" | "made", detail: string}>}
 */
export async function ensureNatsServer({ note }) {
  const named = process.env["NATS_SERVER_BIN"];
  if (named !== undefined && named !== "") return useNamed(named);
  for (const candidate of [BINARY, "nats-server"]) {
    const version = await usableVersion(candidate);
    if (version !== null) return { outcome: "present", detail: `${version} (${shortName(candidate)})` };
  }

  await mkdir(TOOLS_DIR, { recursive: true });
  /** @type {string[]} */
  const reasons = [];
  const sources = { release: fromRelease, debian: fromDebian, go: fromGo };
  for (const [source, fetchFrom] of Object.entries(sources)) {
    const attempt = await fetchFrom(note);
    const version = attempt.ok ? await usableVersion(BINARY) : null;
    if (version !== null) return { outcome: "made", detail: `${version} (from ${source})` };
    reasons.push(`${source}: ${attempt.ok ? "the binary does not run here" : attempt.reason}`);
  }
  throw new StepFailure(
    `no nats-server >= ${NEEDED.join(".")} is available (${reasons.join("; ")})`,
    "install one from https://github.com/nats-io/nats-server/releases and name it in NATS_SERVER_BIN",
  );
}

/** @param {string} binary */
async function useNamed(binary) {
  const version = await usableVersion(binary);
  if (version === null)
    throw new StepFailure(
      `NATS_SERVER_BIN names ${binary}, which is no nats-server >= ${NEEDED.join(".")} that runs here`,
      "correct NATS_SERVER_BIN, or unset it to fetch one",
    );
  return { outcome: /** @type {const} */ ("present"), detail: `${version} (NATS_SERVER_BIN)` };
}

/** @param {string} binary */
const shortName = (binary) => (binary === BINARY ? "this checkout's tools" : "on PATH");

/** The version of a server that runs and is new enough, else null. @param {string} binary */
async function usableVersion(binary) {
  const result = await run(binary, ["--version"], { timeoutMs: 5_000 });
  const found = /v(\d+)\.(\d+)\.(\d+)/.exec(result.stdout);
  if (result.code !== 0 || found === null) return null;
  const [major = 0, minor = 0] = found.slice(1).map(Number);
  const [neededMajor = 0, neededMinor = 0] = NEEDED;
  const enough = major > neededMajor || (major === neededMajor && minor >= neededMinor);
  return enough ? found[0].slice(1) : null;
}

/** @param {(text: string) => void} note @returns {Promise<Attempt>} */
async function fromRelease(note) {
  const platform = `${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
  const expected = /** @type {Record<string, string>} */ (RELEASE.sha256)[platform];
  if (expected === undefined) return { ok: false, reason: `no pinned archive for ${platform}` };
  const stem = `nats-server-v${RELEASE.version}-${platform}`;
  const url = `https://github.com/nats-io/nats-server/releases/download/v${RELEASE.version}/${stem}.tar.gz`;
  const directory = await workDirectory("nats-server");
  try {
    const archive = await download(url, note);
    const actual = createHash("sha256").update(archive).digest("hex");
    if (actual !== expected) return { ok: false, reason: `sha256 of ${stem}.tar.gz is ${actual}` };
    const file = path.join(directory, "release.tar.gz");
    await writeFile(file, archive);
    const unpacked = await run("tar", ["-xzf", file, "-C", directory, `${stem}/nats-server`]);
    if (unpacked.code !== 0) return { ok: false, reason: reasonOf(unpacked) };
    await install(path.join(directory, stem, "nats-server"));
    return { ok: true };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** @param {string} url @param {(text: string) => void} note */
async function download(url, note) {
  const limit = new AbortController();
  let timer = setTimeout(() => limit.abort(new Error("no answer in time")), CONNECT_TIMEOUT_MS);
  try {
    const answer = await fetch(url, { signal: limit.signal });
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    clearTimeout(timer);
    timer = setTimeout(() => limit.abort(new Error("the transfer took too long")), TRANSFER_TIMEOUT_MS);
    note(`downloading nats-server ${RELEASE.version}`);
    return Buffer.from(await answer.arrayBuffer());
  } finally {
    clearTimeout(timer);
  }
}

/** @param {(text: string) => void} note @returns {Promise<Attempt>} */
async function fromDebian(note) {
  if ((await hostDistribution()) === null) return { ok: false, reason: "not a Debian or Ubuntu" };
  note("fetching nats-server from Debian's archive");
  const directory = await workDirectory("nats-server");
  try {
    const archive = await openArchive({ id: "debian", codename: "sid", directory, note });
    const tree = path.join(directory, "tree");
    await unpackInto([await archive.package("nats-server")], tree);
    await install(path.join(tree, "usr/sbin/nats-server"));
    return { ok: true };
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    return { ok: false, reason: error.message };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** @param {(text: string) => void} note */
function fromGo(note) {
  return buildGoProgram({
    packagePath: "github.com/nats-io/nats-server/v2",
    name: "nats-server",
    version: "",
    note,
  });
}

/** Renames it into place, so that no process starts half a binary. @param {string} file */
async function install(file) {
  const aside = `${BINARY}.${process.pid}`;
  await copyFile(file, aside);
  await rename(aside, BINARY);
}
