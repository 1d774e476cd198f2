/** The text of a lock of npm packages: what npm resolves, without the registry that it asked and without notes for people. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { NODE_BUILDS } from "@antiphon/contracts/runs/npm-lock";

const PINNED = resolve(import.meta.dirname, "../../setup/node-program.json");
const FOR_PEOPLE = ["resolved", "license", "funding", "engines", "deprecated"];

/** @param scratch an empty directory */
export function npmLockText(npm: readonly string[], scratch: string): string {
  const { node } = JSON.parse(readFileSync(PINNED, "utf8")) as { readonly node: string };
  const root = {
    name: "agent",
    private: true,
    dependencies: Object.fromEntries(npm.map(nameAndVersion)),
    optionalDependencies: Object.fromEntries(NODE_BUILDS.map((name) => [name, node])),
  };
  writeFileSync(join(scratch, "package.json"), JSON.stringify(root));
  execFileSync("npm", ["install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: scratch,
    stdio: "inherit",
  });
  return withoutNotes(readFileSync(join(scratch, "package-lock.json"), "utf8"));
}

type Packages = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Builds for other platforms that the registry does not have are left out: `npm ci` insists on all that a lock mentions. */
export function withoutNotes(text: string): string {
  const { packages, ...lock } = JSON.parse(text) as { readonly packages: Packages };
  const held = new Set(Object.keys(packages).map((place) => place.slice(place.lastIndexOf("node_modules/"))));
  const kept = Object.entries(packages).map(([place, one]) => {
    const { optionalDependencies, ...rest } = one;
    const builds = Object.entries(optionalDependencies ?? {}).filter(([name]) =>
      held.has(`node_modules/${name}`),
    );
    const all = {
      ...rest,
      ...(builds.length === 0 ? {} : { optionalDependencies: Object.fromEntries(builds) }),
    };
    return [place, Object.fromEntries(Object.entries(all).filter(([key]) => !FOR_PEOPLE.includes(key)))];
  });
  return `${JSON.stringify({ ...lock, packages: Object.fromEntries(kept) as Packages }, null, 2)}\n`;
}

function nameAndVersion(one: string): [name: string, version: string] {
  const at = one.lastIndexOf("@");
  return [one.slice(0, at), one.slice(at + 1)];
}
