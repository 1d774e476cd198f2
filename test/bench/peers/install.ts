/**
 * Installs the peers outside the lock file, below `.antiphon/peers`: npm packages there, redis from Debian's archive,
 * unpacked and not installed; PostgreSQL from this machine or the same way.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const HOME = fileURLToPath(new URL("../../../.antiphon/peers", import.meta.url));
const NPM = join(HOME, "npm");
const DEBIAN = join(HOME, "debian");

const PACKAGES: Readonly<Record<string, string>> = {
  bullmq: "5",
  ioredis: "5",
  "pg-boss": "10",
  pg: "8",
  "@dbos-inc/dbos-sdk": "3",
  "@restatedev/restate-sdk": "1",
  "@restatedev/restate-server": "1",
};

const REDIS = [
  "redis-server",
  "redis-tools",
  "liblzf1",
  "libjemalloc2",
  "liblua5.1-0",
  "lua-cjson",
  "lua-bitop",
  "libhiredis0.14",
  "libatomic1",
];

/** Installs what is missing. Each part fails by itself; a contender without its part is reported as unavailable. */
export async function installPackages(): Promise<void> {
  if (Object.keys(PACKAGES).every((name) => existsSync(join(NPM, "node_modules", name, "package.json"))))
    return;
  mkdirSync(NPM, { recursive: true });
  writeFileSync(join(NPM, "package.json"), '{"private":true,"name":"peers"}\n');
  const wanted = Object.entries(PACKAGES).map(([name, range]) => `${name}@${range}`);
  const flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--silent"];
  await run("npm", ["install", ...flags, ...wanted], { cwd: NPM, timeout: 600_000 });
}

/** Loads a package of a peer; the caller supplies its types. */
export function peerPackage<T>(name: string): T {
  return createRequire(join(NPM, "package.json"))(name) as T;
}

export function peerVersion(name: string): string {
  const path = join(NPM, "node_modules", name, "package.json");
  return (createRequire(import.meta.url)(path) as { version: string }).version;
}

export function restateBinary(): string {
  const scope = join(NPM, "node_modules", "@restatedev");
  const found = readdirSync(scope)
    .map((name) => join(scope, name, "bin", "restate-server"))
    .find((path) => existsSync(path));
  if (found === undefined) throw new Error("npm has no restate-server binary for this platform");
  return found;
}

export interface Program {
  readonly path: string;
  readonly env: NodeJS.ProcessEnv;
}

export async function redisProgram(): Promise<Program> {
  const path = join(DEBIAN, "usr/bin/redis-check-rdb"); // redis-server is a link to it
  if (!existsSync(path)) await unpack(REDIS);
  const libraries = ["usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "lib/x86_64-linux-gnu"];
  const env = { ...process.env, LD_LIBRARY_PATH: libraries.map((part) => join(DEBIAN, part)).join(":") };
  return { path: join(DEBIAN, "usr/bin/redis-server"), env };
}

/** The directory of PostgreSQL's programs. */
export async function postgresPrograms(): Promise<string> {
  const newest = (root: string): string | undefined => {
    const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
    return versions
      .map((version) => join(root, version, "bin"))
      .find((bin) => existsSync(join(bin, "initdb")));
  };
  const own = newest("/usr/lib/postgresql");
  if (own !== undefined) return own;
  const root = join(DEBIAN, "usr/lib/postgresql");
  if (newest(root) === undefined) await unpack(["postgresql-15", "postgresql-client-15", "libpq5"]);
  const unpacked = newest(root);
  if (unpacked === undefined) throw new Error("no PostgreSQL on this machine, nor in its package archive");
  return unpacked;
}

async function unpack(packages: readonly string[]): Promise<void> {
  const debs = join(DEBIAN, "debs");
  mkdirSync(debs, { recursive: true });
  await run("apt-get", ["download", ...packages], { cwd: debs, timeout: 300_000 });
  for (const deb of readdirSync(debs).filter((name) => name.endsWith(".deb")))
    await run("dpkg-deb", ["-x", join(debs, deb), DEBIAN]);
}
