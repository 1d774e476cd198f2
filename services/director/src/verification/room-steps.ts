/** The steps of a clean room: one for each check, after one that moves or empties the workspace if the request says so. Pure. */
import type { SandboxStep } from "@antiphon/contracts";
import type { RoomRequest } from "../ports.ts";

/** Whether the first step prepares the workspace. */
export const isPrepared = ({ elsewhere, emptied }: RoomRequest): boolean =>
  elsewhere !== undefined || emptied === true;

const EMPTY = 'for one in * .[!.]* ..?*; do [ "$one" = .git ] || rm -rf -- "./$one" || exit 1; done';

/** The tree is moved before the checks, by a step whose exit no check can forge. */
const MOVE =
  'mkdir -p "$1" "$1/../home" && cp -a /workspace/. "$1/" && rm -rf /workspace/* /workspace/.[!.]* /workspace/..?*';

/** A shell remembers where it came from. */
const LEAVE = 'cd "$0" && unset OLDPWD && exec sh -c "$1"';

export function stepsOf({ checks, budgetMs, room, elsewhere, emptied }: RoomRequest): SandboxStep[] {
  const step = (id: string, argv: string[], env: Record<string, string> = {}): SandboxStep => ({
    ...{ id, argv, env: { ...room?.env, ...env } },
    ...{ timeoutMs: budgetMs, continueOnFailure: id !== "prepare" },
  });
  const plain = checks.map((command, i) => step(`check-${i + 1}`, ["sh", "-c", command]));
  if (emptied === true) return [step("prepare", ["sh", "-c", EMPTY]), ...plain];
  if (elsewhere === undefined) return plain;
  const env = { HOME: `${elsewhere.slice(0, elsewhere.lastIndexOf("/"))}/home` };
  return [
    step("prepare", ["sh", "-c", MOVE, "antiphon", elsewhere]),
    ...checks.map((command, i) => step(`check-${i + 1}`, ["sh", "-c", LEAVE, elsewhere, command], env)),
  ];
}

/** The number of the check, from 0, that a step carries out. Null: it prepares the workspace. */
export function checkOf(stepId: string): number | null {
  const [, number] = /^check-(\d+)$/.exec(stepId) ?? [];
  return number === undefined ? null : Number(number) - 1;
}
