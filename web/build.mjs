// Bundles the page for the gateway to serve: index.html, main.js with its lazily loaded chunks, and main.css.
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL(".", import.meta.url));

/**
 * Returns the paths of the inputs.
 *
 * @param {typeof import("esbuild").build} build
 */
export async function bundlePage(build, outdir) {
  const { metafile } = await build({
    metafile: true,
    absWorkingDir: HERE,
    entryPoints: { main: "src/main.tsx" },
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: ["es2023", "chrome111", "firefox115", "safari16.4"],
    jsx: "automatic",
    chunkNames: "[name]-[hash]",
    minify: true,
    legalComments: "none",
    sourcemap: false,
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "silent",
  });
  mkdirSync(outdir, { recursive: true });
  copyFileSync(join(HERE, "index.html"), join(outdir, "index.html"));
  return Object.keys(metafile.inputs).map((input) => join(HERE, input));
}
