/** The scripts and binaries of a package.json, deno.json or composer.json. */
import { documentValue, limits } from "@antiphon/contracts";
import { followSetup } from "./setup-keys.ts";
import type { Place, Trace } from "./trace.ts";

const RUNNERS = ["jest", "mocha", "ava", "nyc", "c8", "tap", "babel", "eslintConfig"];
const MAX_TEXT = 1024 * 1024;

/** `x` runs `prex`, `x` and `postx`; `test:*` runs all scripts of that form. */
export function followScripts(
  text: string,
  path: string,
  names: readonly string[],
  place: Place,
  trace: Trace,
): void {
  const manifest = recordOf(parsed(text));
  // Configuration of test runners inside the manifest.
  const runners = RUNNERS.map((name) => manifest[name]).filter((value) => value !== undefined);
  if (runners.length > 0) {
    const text = JSON.stringify(runners);
    followSetup(text, path, place, trace);
    trace.source(text, { from: path, language: "node", place });
  }
  const scripts = recordOf(manifest["scripts"] ?? manifest["tasks"]);
  for (const [name, script] of Object.entries(scripts)) {
    if (!names.some((wanted) => means(wanted, name))) continue;
    const trail = [...place.trail, `${path} scripts.${name}`];
    for (const line of Array.isArray(script) ? script : [script]) {
      if (typeof line !== "string") continue;
      trace.shell(line.replace(/^@(php|composer) /, "$1 "), { ...place, direct: false, trail });
    }
  }
}

function means(wanted: string, name: string): boolean {
  if (wanted.includes("*")) return name.startsWith(wanted.slice(0, wanted.indexOf("*")));
  return name === wanted || name === `pre${wanted}` || name === `post${wanted}`;
}

export function followBinary(text: string, name: string, place: Place, trace: Trace): void {
  const manifest = recordOf(parsed(text));
  const bin = manifest["bin"];
  const target = typeof bin === "string" && manifest["name"] === name ? bin : recordOf(bin)[name];
  const path = typeof target === "string" ? trace.tree.file(place.dir, target) : null;
  if (path !== null) trace.file(path, "run", { ...place, direct: false });
}

function parsed(text: string): unknown {
  if (text.length > MAX_TEXT) return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return parsedLoosely(text);
  }
}

/** Parses with comments, which deno.jsonc has. A file that does not parse has no scripts. */
function parsedLoosely(text: string): unknown {
  if (text.length > limits.manifestBytes) return null;
  const lines = text.split("\n").filter((line) => !line.trimStart().startsWith("//"));
  return documentValue(lines.join("\n"), "manifest.yaml");
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
