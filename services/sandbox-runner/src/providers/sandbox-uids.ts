/**
 * The users that sandboxes run as. Pure.
 *
 * The kernel counts inotify instances, pipe pages, epoll watches, pending signals and keys by user, for all containers of a
 * host together. Two sandboxes of one user take them from each other: one that opens every inotify instance makes the checks
 * in the other fail. So every live container of an engine has a user, and a group of the same number, to itself
 * (docker/uid-leases.ts).
 *
 * All users are below 65,536, the whole range of a remapped or rootless engine, and in none of the ranges of login.defs (to
 * 60,000) and systemd (to 60,705, and from 61,184 on). /etc/passwd of the default image has them all.
 *
 * The files of a tree's layer belong to one user, so there is a copy of it for each user that sandboxes over it have had
 * (layers/volume-layers.ts). These sandboxes have a part of the range for themselves and take its users in one order, so that
 * they meet the same copies again. Each instance begins at another user. If two instances on one engine began at the same one,
 * each would take users for whom the other has copies, and both would unpack layers again.
 *
 * The files of an environment belong to a user that no sandbox has, and to a group that every sandbox over one is in.
 */
import { sha256Hex } from "@antiphon/contracts";

/** The user where a sandbox has a kernel or a user namespace of its own. */
export const SANDBOX_UID = 65_532;

/** setup/sandbox-rootfs.mjs and the Dockerfile of the image have the same range. */
const FIRST_UID = 60_720;
const LAYERED_UIDS = 128;
const ALL_UIDS = 448;
const OWNER_UIDS = 15;

/** The group that the files of environments belong to. It follows the last user, and no user has it alone. */
export const ENVIRONMENT_GID: number = FIRST_UID + ALL_UIDS + OWNER_UIDS;

/** `owner`: who unpacks an environment. */
export type UidPart = "layered" | "other" | "owner";

const PARTS: Readonly<Record<UidPart, readonly [from: number, to: number]>> = {
  layered: [0, LAYERED_UIDS],
  other: [LAYERED_UIDS, ALL_UIDS],
  owner: [ALL_UIDS, ALL_UIDS + OWNER_UIDS],
};

/** The free users of this part, in one round that starts at the place of `begin`. */
export function freeUids(part: UidPart, taken: ReadonlySet<number>, begin = 0): readonly number[] {
  const [from, to] = PARTS[part];
  const size = to - from;
  const all = Array.from({ length: size }, (_, at) => FIRST_UID + from + ((begin + at) % size));
  return all.filter((uid) => !taken.has(uid));
}

/** Where an instance begins. */
export const beginOf = (instance: string): number =>
  Number.parseInt(sha256Hex(instance).slice(0, 4), 16) % LAYERED_UIDS;

/** The free user for which most of the wanted layers are there, and the first of them. */
export function bestUid(free: readonly number[], copies: ReadonlyMap<number, number>): number | undefined {
  const most = Math.max(0, ...free.map((uid) => copies.get(uid) ?? 0));
  return free.find((uid) => (copies.get(uid) ?? 0) === most);
}
