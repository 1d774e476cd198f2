/**
 * A program of the tests as one file, which starts in a quarter of the time that a loader takes to translate its modules one
 * by one. It is built from the sources as they are now, once in each worker, and removed by the next worker that builds one.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const FOLDERS = join(ROOT, ".antiphon", "test-programs");
const built = new Map<string, Promise<string>>();

/** Returns the path of the built program. */
export function builtProgram(source: URL): Promise<string> {
  const path = fileURLToPath(source);
  const known = built.get(path) ?? bundled(path);
  built.set(path, known);
  known.catch(() => built.delete(path)); // The next file tries again.
  return known;
}

async function bundled(path: string): Promise<string> {
  const folder = join(FOLDERS, String(process.pid));
  if (built.size === 0) removeAllOfDead();
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, `${basename(path, ".ts")}-${built.size}.mjs`);
  await build({
    absWorkingDir: ROOT,
    entryPoints: [path],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node24",
    logLevel: "error",
    sourcemap: "linked",
    sourcesContent: false,
    plugins: [besideItsSource, packagesOutside],
    define: { "import.meta.url": "__url", "import.meta.dirname": "__folder" },
  });
  return outfile;
}

/** A worker is killed when it has no file left, so it cannot remove its own. */
function removeAllOfDead(): void {
  mkdirSync(FOLDERS, { recursive: true });
  for (const pid of readdirSync(FOLDERS))
    if (!isAlive(Number(pid))) rmSync(join(FOLDERS, pid), { recursive: true, force: true });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // No process of this user has the number.
  }
}

/** A module finds the files beside it where its source is. */
const besideItsSource: Plugin = {
  name: "beside its source",
  setup(builder) {
    builder.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      if (!text.includes("import.meta.")) return undefined;
      const [url, folder] = [pathToFileURL(path).href, dirname(path)].map((place) => JSON.stringify(place));
      return { contents: `const __url = ${url}, __folder = ${folder}; ${text}`, loader: "ts" };
    });
  },
};

/** Of the packages only those with hundreds of small files become part of it. */
const packagesOutside: Plugin = {
  name: "packages outside",
  setup(builder) {
    builder.onResolve({ filter: /^[a-z@]/ }, ({ path, kind }) =>
      kind === "entry-point" || /^(@antiphon\/|typebox)/.test(path) ? undefined : { path, external: true },
    );
  },
};
