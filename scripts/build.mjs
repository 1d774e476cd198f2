// Bundles the CLI and all services with esbuild, so that `antiphon` starts quickly and a production image needs neither
// sources nor node_modules.
//
// A build is in `.antiphon/build/<fingerprint>/`. The fingerprint covers path, size and mtime of every source, the lock
// file and this script, so one directory walk shows whether a build is current, and two processes may build at once.
//
// A build directory appears complete or not at all, because it is built aside and then renamed. A published build never
// changes, and stays as long as a process runs from it. Only `.antiphon/build` is written (or `--outdir`, for images).
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundlePage } from "../web/build.mjs";

const SOURCE_ROOTS = ["contracts", "client", "run", "git", "runtime", "services", "cli", "web"];
const SINGLE_SOURCES = ["package.json", "package-lock.json", "scripts/build.mjs"];
const SOURCE = /\.(tsx?|mjs|json|pl|sh|css|html)$/;
const KEPT_BUILDS = 3;
const LOCK_PATIENCE_MS = 60_000;

/** One line per source file; the hash of all lines names the build. Every `antiphon` of a checkout calls it first. */
export function fingerprint(root) {
  const lines = [];
  const walk = (folder) => {
    for (const entry of readdirSync(`${root}/${folder}`, { withFileTypes: true })) {
      const { name } = entry;
      if (name === "node_modules" || name.startsWith(".")) continue;
      if (entry.isDirectory()) walk(`${folder}/${name}`);
      else if (SOURCE.test(name) && !name.endsWith(".test.ts")) lines.push(stamp(root, `${folder}/${name}`));
    }
  };
  for (const folder of SOURCE_ROOTS) if (existsSync(join(root, folder))) walk(folder);
  for (const file of SINGLE_SOURCES) if (existsSync(join(root, file))) lines.push(stamp(root, file));
  return createHash("sha256").update(lines.sort().join("\n")).digest("hex").slice(0, 16);
}

function stamp(root, file) {
  const { mtimeMs, size } = statSync(`${root}/${file}`);
  return `${file} ${size} ${mtimeMs}`;
}

function entryPoints(root) {
  const entries = {
    cli: join(root, "cli/src/main.ts"),
    decode: join(root, "cli/src/serve/decode-process.ts"),
    serve: join(root, "cli/src/serve/serve-process.ts"),
  };
  const roles = JSON.parse(readFileSync(join(root, "contracts/src/roles.json"), "utf8"));
  for (const { role, folder } of roles)
    entries[`role-${role}`] = join(root, "services", folder, "src/main.ts");
  return entries;
}

/** The programs that run inside a sandbox, by their path as program-text.ts names them. */
function sandboxPrograms(root) {
  const folder = join(root, "services/sandbox-runner/src/supervisor");
  const names = readdirSync(folder, { recursive: true }).filter((name) => /\.(pl|sh)$/.test(name));
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

/**
 * Parts of dockerode that it loads at once and we need seldom or never: Docker over SSH, and the builds of BuildKit. They
 * are loaded when they are called; SSH is then as it was, and BuildKit's packages are left out of the bundle.
 */
const SELDOM = [
  { file: "docker-modem/lib/modem.js", name: "ssh", from: "./ssh" },
  { file: "dockerode/lib/docker.js", name: "withSession", from: "./session" },
];
export const NEVER = ["@grpc/grpc-js", "@grpc/proto-loader", "protobufjs"];

export const seldomParts = {
  name: "seldom parts of dockerode",
  setup(build) {
    for (const { file, name, from } of SELDOM)
      build.onLoad({ filter: new RegExp(`/node_modules/${file}$`) }, ({ path }) => {
        const text = readFileSync(path, "utf8");
        const eager = `${name} = require('${from}')`;
        if (!text.includes(eager)) throw new Error(`${path} does not contain: ${eager}`);
        return { contents: text.replace(eager, `${name} = (...args) => require('${from}')(...args)`) };
      });
  },
};

/** Returns the paths of the inputs, which name every npm package that the bundle holds. */
export async function bundle(root, outdir) {
  const { build, stop } = await import("esbuild");
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const { metafile } = await build({
    metafile: true,
    absWorkingDir: root,
    entryPoints: entryPoints(root),
    outdir,
    bundle: true,
    splitting: true,
    // Loaded with `import()` only when it is chosen; as a CommonJS module it would lose its named exports.
    alias: { e2b: "e2b/dist/index.mjs" },
    format: "esm",
    platform: "node",
    target: "node24",
    chunkNames: "chunks/[name]-[hash]",
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    // Stacks name lines of the sources; the text itself is not needed for that.
    sourcemap: true,
    sourcesContent: false,
    logLevel: "silent",
    plugins: [seldomParts],
    // Optional native parts of dockerode's ssh transport; it runs without them.
    external: ["cpu-features", "*.node", ...NEVER],
    define: {
      __ANTIPHON_VERSION__: JSON.stringify(version),
      __ANTIPHON_PROGRAMS__: JSON.stringify(sandboxPrograms(root)),
      __ANTIPHON_LAUNCHER__: JSON.stringify(readFileSync(join(root, "git/src/process/launcher.pl"), "utf8")),
    },
    // Bundled CommonJS packages still reach Node's own modules through require().
    banner: {
      js: [
        'import{createRequire as __createRequire}from"node:module";',
        'import{dirname as __dirnameOf}from"node:path";',
        'import{fileURLToPath as __toPath}from"node:url";',
        "const require=__createRequire(import.meta.url),__filename=__toPath(import.meta.url),__dirname=__dirnameOf(__filename);",
      ].join(""),
    },
  });
  const ofPage = await bundlePage(build, join(outdir, "page"));
  await stop(); // Otherwise its helper process would live as long as this one.
  writeFileSync(join(outdir, "package.json"), '{"type":"module"}\n');
  return [...Object.keys(metafile.inputs).map((input) => join(root, input)), ...ofPage];
}

/** The commit of the checkout; null outside of git. `antiphon version` of a packed bundle reads it from commit.json. */
export function writeCommit(root, outdir) {
  writeFileSync(join(outdir, "commit.json"), `${JSON.stringify({ commit: commitOf(root) })}\n`);
}

function commitOf(root) {
  const git = (...args) =>
    execFileSync("git", ["-C", root, ...args], { encoding: "utf8", stdio: "pipe" }).trim();
  try {
    return (
      git("rev-parse", "HEAD") + (git("status", "--porcelain", "--untracked-files=no") === "" ? "" : "-dirty")
    );
  } catch {
    return null; // An image build copies the sources without their history.
  }
}

/** Returns the directory of a bundle that matches the sources, building it when there is none. */
export async function ensureBuilt(root, { onBuild = () => undefined } = {}) {
  const builds = join(root, ".antiphon/build");
  const target = join(builds, fingerprint(root));
  if (existsSync(join(target, "cli.js"))) return target;
  mkdirSync(builds, { recursive: true });
  await withLock(
    join(builds, "lock"),
    () => existsSync(join(target, "cli.js")),
    async () => {
      onBuild();
      await buildInto(root, builds, target);
    },
  );
  return target;
}

async function buildInto(root, builds, target) {
  const aside = join(builds, `.tmp-${process.pid}-${Date.now().toString(36)}`);
  try {
    await bundle(root, aside);
    publish(aside, target);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
  writeFileSync(join(builds, "latest"), `${basename(target)}\n`);
  prune(builds, target);
}

/**
 * Lets one process work while the others wait for `isDone`. The lock only saves time: without it
 * they would all do the same work, and the rename keeps builds complete. The others therefore do not wait for a dead or slow holder.
 */
async function withLock(path, isDone, work) {
  const patience = Date.now() + LOCK_PATIENCE_MS;
  while (!isDone()) {
    try {
      writeFileSync(path, String(process.pid), { flag: "wx" });
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
      const holder = Number(readText(path));
      if ((holder > 0 && !isAlive(holder)) || Date.now() > patience) rmSync(path, { force: true });
      await new Promise((done) => setTimeout(done, 25));
      continue;
    }
    try {
      if (!isDone()) await work();
    } finally {
      rmSync(path, { force: true });
    }
  }
}

function readText(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // Released meanwhile.
  }
}

function publish(aside, target) {
  try {
    renameSync(aside, target);
  } catch (error) {
    // Another process published the same fingerprint first: its build is identical to ours.
    if (!existsSync(join(target, "cli.js"))) throw error;
  }
}

/** A build is deleted only when it is not among the newest and no living process holds a lease on it. */
function prune(builds, current) {
  const old = readdirSync(builds)
    .filter((name) => /^[0-9a-f]{16}$/.test(name) && join(builds, name) !== current)
    .map((name) => ({ path: join(builds, name), at: statSync(join(builds, name)).mtimeMs }))
    .sort((a, b) => b.at - a.at)
    .slice(KEPT_BUILDS - 1);
  const leased = leasedBuilds(builds);
  for (const { path } of old) if (!leased.has(basename(path))) rmSync(path, { recursive: true, force: true });
  for (const name of readdirSync(builds)) {
    const pid = /^\.tmp-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid)))
      rmSync(join(builds, name), { recursive: true, force: true });
  }
}

/** Takes a lease on the build that this process runs from; returns a function that releases it. */
export function lease(build) {
  const dir = join(dirname(build), "leases");
  const file = join(dir, `${basename(build)}-${process.pid}`);
  mkdirSync(dir, { recursive: true });
  writeFileSync(file, "");
  return () => rmSync(file, { force: true });
}

function leasedBuilds(builds) {
  const dir = join(builds, "leases");
  const leased = new Set();
  for (const name of existsSync(dir) ? readdirSync(dir) : []) {
    const [build, pid] = name.split("-");
    if (isAlive(Number(pid))) leased.add(build);
    else rmSync(join(dir, name), { force: true });
  }
  return leased;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

const here = fileURLToPath(import.meta.url);
if (process.argv[1] !== undefined && pathToFileURL(resolve(process.argv[1])).href === import.meta.url) {
  const root = dirname(dirname(here));
  const flag = process.argv.indexOf("--outdir");
  const started = performance.now();
  try {
    const outdir = flag === -1 ? await ensureBuilt(root) : resolve(process.argv[flag + 1] ?? "dist");
    if (flag !== -1) {
      rmSync(outdir, { recursive: true, force: true });
      await bundle(root, outdir);
      writeCommit(root, outdir);
    }
    console.log(
      `built ${relative(process.cwd(), outdir) || "."} in ${Math.round(performance.now() - started)} ms`,
    );
  } catch (error) {
    console.error(`error ANT_BUILD_FAILED: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
