/** Resolves module names to files of the tree: Node's relative specifiers and Python's dotted names. Pure. */
import type { CheckTree } from "./check-tree.ts";

interface NodeModule {
  /** The resolved file; null if the tree has none. */
  readonly to: string | null;
  /** Missing paths that the resolver tries before `to`. A new file at one of them would shadow the module. */
  readonly before: readonly string[];
}

const ENDINGS = [
  "",
  ".js",
  ".json",
  ".node",
  ".mjs",
  ".cjs",
  ".ts",
  ".tsx",
  ".mts",
  ".cts",
  ".jsx",
  "/index.js",
  "/index.json",
  "/index.node",
  "/index.mjs",
  "/index.cjs",
  "/index.ts",
  "/index.tsx",
];

/** In CommonJS order, then TypeScript's endings; `x.js` may stand for `x.ts`. */
export function nodeModule(tree: CheckTree, dir: string, specifier: string): NodeModule {
  const before: string[] = [];
  const names = ENDINGS.map((ending) => specifier + ending);
  const compiled = /^(.*)\.([mc]?)js$/.exec(specifier);
  if (compiled !== null) names.splice(1, 0, `${compiled[1]}.${compiled[2]}ts`, `${compiled[1]}.tsx`);
  for (const name of names) {
    const file = tree.file(dir, name);
    if (file !== null) return { to: file, before };
    const place = tree.place(dir, name);
    if (place !== null && place !== "" && name !== specifier) before.push(place);
  }
  return { to: null, before: [] };
}

interface PythonModule {
  /** `__init__.py` of the packages on the way. */
  readonly packages: readonly string[];
  readonly to: string | null;
}

/** Resolves a dotted name from a directory of the module path; `x/__init__.py` comes before `x.py`. */
export function pythonModule(tree: CheckTree, dir: string, name: string): PythonModule {
  const parts = name.split(".");
  if (parts.length > 32 || parts.some((part) => !/^\w+$/.test(part))) return { packages: [], to: null };
  const packages: string[] = [];
  for (let count = 1; count < parts.length; count += 1) {
    const init = tree.file(dir, `${parts.slice(0, count).join("/")}/__init__.py`);
    if (init !== null) packages.push(init);
  }
  const path = parts.join("/");
  const own = tree.file(dir, `${path}/__init__.py`);
  const main = tree.file(dir, `${path}/__main__.py`);
  if (own !== null) return main === null ? { packages, to: own } : { packages: [...packages, own], to: main };
  return { packages, to: tree.file(dir, `${path}.py`) ?? main };
}
