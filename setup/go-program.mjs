/**
 * Builds programs from Go source at the versions of a go.mod (go-tools/go.mod if none is named), every module checked
 * against the go.sum beside it. It uses the Go compiler on PATH if that is new enough. Otherwise, on Debian and Ubuntu,
 * it unpacks one from the archive into the cache, which can be deleted again.
 */
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import path from "node:path";

import { CACHE_DIR, ROOT, TOOLS_DIR, workDirectory } from "./checkout.mjs";
import { reasonOf, run } from "./command.mjs";
import { hostDistribution, openArchive, unpackInto } from "./debian-archive.mjs";
import { StepFailure } from "./step-failure.mjs";

const GO_TOOLS = path.join(ROOT, "setup/go-tools");
const OWN_COMPILER = ["go", "go-build", "go-modules"];
const REMOVE = { recursive: true, force: true };
const BUILD_TIMEOUT_MS = 15 * 60_000;

/**
 * Builds one package into the tools directory, or returns the reason why it cannot.
 *
 * @param {{packagePath: string, name: string, version: string, note: (text: string) => void, module?: string}} program
 * @returns {Promise<{ok: true} | {ok: false, reason: string}>}
 */
export async function buildGoProgram({ packagePath, name, version, note, module = GO_TOOLS }) {
  const compiler = await findCompiler(module, note).catch((/** @type {unknown} */ error) => {
    if (error instanceof StepFailure) return error;
    throw error;
  });
  if (compiler === null) return { ok: false, reason: "no Go compiler" };
  if (compiler instanceof StepFailure) return { ok: false, reason: compiler.message };
  note(`building ${name} ${version} with Go${module === GO_TOOLS ? " (about a minute)" : ""}`);
  await mkdir(TOOLS_DIR, { recursive: true });
  const flags = ["-mod=readonly", "-modcacherw", "-trimpath", "-ldflags", `-s -w -X main.version=${version}`];
  const result = await run(compiler.go, ["build", ...flags, "-o", path.join(TOOLS_DIR, name), packagePath], {
    cwd: module,
    timeoutMs: BUILD_TIMEOUT_MS,
    env: { ...goEnvironment(), ...compiler.env, CGO_ENABLED: "0" },
  });
  return result.code === 0 ? { ok: true } : { ok: false, reason: reasonOf(result) };
}

/**
 * A Go compiler from Debian's newest release, as a directory that is a complete GOROOT.
 *
 * @param {string} directory scratch space, removed by the caller
 * @param {(text: string) => void} note
 */
export async function fetchGoRoot(directory, note) {
  const unpacked = path.join(directory, "go");
  await fetchCompiler(path.join(directory, "apt"), unpacked, note);
  const compiler = await compilerIn(unpacked);
  if (compiler === null)
    throw new StepFailure("the archive's Go packages hold no compiler", "run the command again");
  const root = /** @type {string} */ (compiler.env["GOROOT"]);
  return { root, share: path.join(unpacked, "usr/share", path.basename(root)) };
}

/** An unpacked compiler and its caches take a gigabyte that the next set-up does not need. */
export async function removeOwnCompiler() {
  for (const name of OWN_COMPILER) await rm(path.join(CACHE_DIR, name), REMOVE);
}

/** The caller's own flags and workspaces would change the result, so they are removed; GOPROXY and the caches stay. */
function goEnvironment() {
  return { ...process.env, GOFLAGS: "", GOWORK: "off", GOTOOLCHAIN: "local", GO111MODULE: "on" };
}

/**
 * @param {string} module
 * @param {(text: string) => void} note
 * @returns {Promise<{go: string, env: Record<string, string>} | null>}
 */
async function findCompiler(module, note) {
  const needed = /^go (\d+)\.(\d+)/m.exec(await readFile(path.join(module, "go.mod"), "utf8"));
  const [, major = "1", minor = "0"] = needed ?? [];
  const installed = await run("go", ["env", "GOVERSION"], { env: goEnvironment() });
  const found = /^go(\d+)\.(\d+)/.exec(installed.stdout);
  if (found !== null && Number(found[1]) === Number(major) && Number(found[2]) >= Number(minor))
    return { go: "go", env: {} };

  const unpacked = path.join(CACHE_DIR, "go");
  const ready = await compilerIn(unpacked);
  if (ready !== null) return ready;
  if ((await hostDistribution()) === null) return null;
  note("fetching a Go compiler from Debian (about 60 MB)");
  const directory = await workDirectory("go");
  try {
    await fetchCompiler(directory, unpacked, note);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return compilerIn(unpacked);
}

/** @param {string} directory @param {string} unpacked @param {(text: string) => void} note */
async function fetchCompiler(directory, unpacked, note) {
  const archive = await openArchive({ id: "debian", codename: "sid", directory, note });
  const debs = await archive.closure(["golang-go"]);
  await rm(unpacked, { recursive: true, force: true });
  await unpackInto(
    debs.filter((file) => path.basename(file).startsWith("golang-")),
    unpacked,
  );
}

/** @param {string} directory */
async function compilerIn(directory) {
  const library = path.join(directory, "usr/lib");
  const names = await readdir(library).catch(() => []);
  const version = names.find((name) => /^go-\d/.test(name));
  if (version === undefined) return null;
  const env = {
    GOROOT: path.join(library, version),
    GOCACHE: path.join(CACHE_DIR, "go-build"),
    GOMODCACHE: path.join(CACHE_DIR, "go-modules"),
  };
  return { go: path.join(library, version, "bin/go"), env };
}
