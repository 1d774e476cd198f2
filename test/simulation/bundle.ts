/**
 * The simulation as one file, so that a worker starts in milliseconds and runs at full speed. A mutation changes
 * one line of the product in the bundle only.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export interface Mutation {
  name: string;
  /** The planted bug in a sentence. */
  bug: string;
  /** From the repository's root. */
  file: string;
  find: string;
  replace: string;
}

/** Builds the worker; returns its path. Throws when the mutation's line no longer exists. */
export async function bundleWorker(mutation: Mutation | null = null): Promise<string> {
  const outfile = join(ROOT, ".antiphon", "simulation", `${mutation?.name ?? "product"}-${process.pid}.mjs`);
  mkdirSync(dirname(outfile), { recursive: true });
  await build({
    entryPoints: [fileURLToPath(new URL("./worker.ts", import.meta.url))],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    logLevel: "error",
    // CommonJS dependencies need `require`, which an ES module has to create for them.
    banner: { js: 'import{createRequire}from"node:module";const require=createRequire(import.meta.url);' },
    plugins: mutation === null ? [] : [mutated(mutation)],
  });
  return outfile;
}

function mutated({ name, file, find, replace }: Mutation): Plugin {
  const path = join(ROOT, file);
  const source = readFileSync(path, "utf8");
  if (source.split(find).length !== 2) {
    throw new Error(`planted bug ${name}: ${file} does not hold ${JSON.stringify(find)} exactly once`);
  }
  return {
    name,
    setup(builder) {
      builder.onLoad({ filter: /\.ts$/ }, (loading) =>
        loading.path === path ? { contents: source.replace(find, () => replace), loader: "ts" } : undefined,
      );
    },
  };
}
