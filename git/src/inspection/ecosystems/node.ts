/**
 * JavaScript: npm, pnpm, yarn and bun, by the lock file. A package manager that the image does not have is installed from
 * the registry into the home directory, in the version that `packageManager` names, else in one that reads the lock file.
 */
import { SANDBOX_HOME } from "@antiphon/contracts";
import { withoutBrowsers } from "./browser-downloads.ts";
import { isFilled, jsonOf, recordOf, type Ecosystem, type Finding, type Place } from "./ecosystem.ts";

const LOCAL_BIN = `${SANDBOX_HOME}/.local/bin`;

export const NODE: Ecosystem = {
  name: "JavaScript",
  decides:
    /^(package\.json|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|pnpm-workspace\.yaml|yarn\.lock|bun\.lockb?|\.npmrc|\.yarnrc(\.yml)?|\.pnpmfile\.[cm]?js|bunfig\.toml|\.nvmrc|\.node-version)$/,
  markers: ["package.json"],
  async probe(place) {
    const manifest = jsonOf(await place.read("package.json"));
    const finding = manifest === null ? null : await managed(place, manifest);
    return finding === null ? null : withoutBrowsers(place, finding);
  },
};

async function managed(place: Place, manifest: Record<string, unknown>): Promise<Finding | null> {
  if (place.has("pnpm-lock.yaml")) return pnpm(place, manifest);
  if (place.has("yarn.lock")) return yarn(place, manifest);
  for (const lock of ["bun.lock", "bun.lockb"])
    if (place.has(lock)) return installed(lock, "bun", "bun", "bun install --frozen-lockfile");
  for (const lock of ["npm-shrinkwrap.json", "package-lock.json"])
    if (place.has(lock)) return (await namesPackages(place, lock)) ? npm(lock, "npm ci") : null;
  return hasDependencies(manifest) ? npm("package.json", "npm install --no-package-lock") : null;
}

function npm(because: string, command: string): Finding {
  return { because, commands: [command], tools: ["npm"] };
}

/** False for a lock file that names no package but the project itself. */
async function namesPackages(place: Place, lock: string): Promise<boolean> {
  const document = jsonOf(await place.read(lock));
  if (document === null) return true; // Too large to look into, or for npm to complain about.
  const packages = Object.keys(recordOf(document["packages"]) ?? {}).filter((path) => path !== "");
  return packages.length > 0 || isFilled(document["dependencies"]);
}

function hasDependencies(manifest: Record<string, unknown>): boolean {
  return ["dependencies", "devDependencies", "optionalDependencies"].some((key) => isFilled(manifest[key]));
}

async function pnpm(place: Place, manifest: Record<string, unknown>): Promise<Finding> {
  const format = /^lockfileVersion: ['"]?(\d+)/m.exec((await place.read("pnpm-lock.yaml")) ?? "")?.[1];
  const major = format === "5" ? 7 : format === "6" ? 8 : 9;
  const wanted = namedManager(manifest, "pnpm") ?? `pnpm@${major}`;
  return installed("pnpm-lock.yaml", "pnpm", wanted, "pnpm install --frozen-lockfile");
}

async function yarn(place: Place, manifest: Record<string, unknown>): Promise<Finding> {
  const isModern = /^__metadata:/m.test((await place.read("yarn.lock")) ?? "");
  if (!isModern) return installed("yarn.lock", "yarn", "yarn@1", "yarn install --frozen-lockfile");
  // Yarn 1 hands over to the release that the repository carries. Without one, the modern yarn itself is needed.
  const version = namedManager(manifest, "yarn")?.slice("yarn@".length) ?? "4";
  const carries = /^yarnPath:/m.test((await place.read(".yarnrc.yml")) ?? "");
  const wanted = carries ? "yarn@1" : `@yarnpkg/cli-dist@${version}`;
  return installed("yarn.lock", "yarn", wanted, "yarn install --immutable");
}

/** `pnpm@9.1.0` of `"packageManager": "pnpm@9.1.0+sha512..."`; null if it names another one. */
function namedManager(manifest: Record<string, unknown>, name: string): string | null {
  const named = manifest["packageManager"];
  if (typeof named !== "string") return null;
  const match = /^([a-z]+)@(\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?)(\+|$)/.exec(named);
  return match?.[1] === name ? `${name}@${match[2]}` : null;
}

function installed(because: string, tool: string, wanted: string, command: string): Finding {
  const install = `command -v ${tool} >/dev/null || npm install --global --prefix "$HOME/.local" ${wanted}`;
  return { because, commands: [install, command], tools: ["npm"], path: [LOCAL_BIN] };
}
