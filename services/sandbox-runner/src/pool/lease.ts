/** What a job would like to find in its sandbox, and what it gets. */
import type { Sandbox } from "../ports.ts";
import type { Tree } from "../workspace/tree-archive.ts";

/** The facts needed to report or remove a tree in a sandbox, even if the tree itself was evicted. */
export type HeldTree = Pick<Tree, "name" | "baseline" | "directories">;

/** What was put into a sandbox before a job asked for it. */
export interface Held {
  /** The base tree that was put in. Null: none, or it is mounted. */
  readonly tree: HeldTree | null;
  /** The archive of the `.git` directory. */
  readonly repository: string | null;
}

export const NOTHING: Held = { tree: null, repository: null };

export interface Wanted {
  /** When the order has layers, it is the tree among them. */
  readonly tree: HeldTree | null;
  readonly repository: string | null;
}

export interface Lease {
  readonly sandbox: Sandbox;
  readonly warm: boolean;
  /** The base tree that is already in the sandbox. */
  readonly holds: HeldTree | null;
  /** The archive of the `.git` directory that is already in the sandbox. */
  readonly repository: string | null;
  /** Destroys the sandbox. Idempotent. */
  release(): Promise<void>;
}

/** The one that holds the wanted tree before one without a tree; among these, the one with the wanted repository. */
export function closest<Ready extends { readonly holds: Held }>(
  ready: readonly Ready[],
  { tree, repository }: Wanted,
): Ready | undefined {
  const distance = ({ holds }: Ready): number => {
    const held = holds.tree?.name ?? null;
    const ofTree = held === (tree?.name ?? null) ? 0 : held === null ? 1 : 2;
    return 2 * ofTree + (holds.repository === repository ? 0 : 1);
  };
  return [...ready].sort((a, b) => distance(a) - distance(b))[0];
}
