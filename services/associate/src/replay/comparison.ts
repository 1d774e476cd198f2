/**
 * Compares an attempt with a replay of it, and names the first step at which they part. Pure.
 *
 * Steps in the order in which they happen: model calls, commands, the diff. A network that the recorded attempt used cannot
 * be replayed, so it is named before a diff that differs. A replay that was stopped names that before the commands that it did
 * not come to.
 */
import {
  digestOf,
  digestOfJson,
  type AssociateResult,
  type Digest,
  type Divergence,
} from "@antiphon/contracts";
import { splitDiff } from "@antiphon/contracts/documents/unified-diff";

export interface Outcome {
  /** Null: no file changed. */
  readonly diff: string | null;
  /** Digests by path, of a task that leaves files instead of a change. */
  readonly artifacts: Readonly<Record<string, Digest>>;
  readonly commands: AssociateResult["commands_run"];
}

export interface Recorded extends Outcome {
  /** The first request to anything but a model that was answered then; null: none. */
  readonly network: string | null;
}

export interface Replayed extends Outcome {
  /** The first model call that differs, and how; null: none. */
  readonly strayed: string | null;
  /** Why there is no outcome to compare, such as the time budget; null: there is one. */
  readonly stopped: string | null;
}

export interface Comparison {
  readonly same: boolean;
  readonly recorded: Digest | null;
  readonly replayed: Digest | null;
  readonly divergence: Divergence | null;
}

export function compared(then: Recorded, now: Replayed): Comparison {
  const [recorded, replayed] = [digestOfOutcome(then), digestOfOutcome(now)];
  return { same: recorded === replayed, recorded, replayed, divergence: divergenceOf(then, now) };
}

function digestOfOutcome({ diff, artifacts }: Outcome): Digest | null {
  if (Object.keys(artifacts).length > 0) return digestOfJson([diff, artifacts]);
  return diff === null ? null : digestOf(diff);
}

function divergenceOf(then: Recorded, now: Replayed): Divergence | null {
  const differs = digestOfOutcome(then) !== digestOfOutcome(now);
  const steps: (Divergence | null)[] = [
    now.strayed === null ? null : { step: "model-call", what: now.strayed },
    commandDifference(then.commands, now.commands, now.stopped),
    differs && now.stopped !== null ? { step: "end", what: now.stopped } : null,
    differs && then.network !== null
      ? { step: "network", what: `${then.network} was answered then; a replay has no network` }
      : null,
    differs ? { step: "diff", what: diffDifference(then, now) } : null,
  ];
  const first = steps.find((step) => step !== null) ?? null;
  if (!differs || (first?.step !== "model-call" && first?.step !== "command")) return first;
  // A prompt may differ in a time of day, and the diff for another reason: people need both.
  return { ...first, what: `${first.what}; in the end ${now.stopped ?? diffDifference(then, now)}` };
}

function commandDifference(
  then: AssociateResult["commands_run"],
  now: AssociateResult["commands_run"],
  stopped: string | null,
): Divergence | null {
  for (const [i, was] of then.entries()) {
    const is = now[i];
    if (is?.exit_code === was.exit_code) continue;
    if (is === undefined && stopped !== null) return { step: "end", what: stopped };
    const how = is === undefined ? "did not run" : `exited ${is.exit_code}`;
    const command = was.command.replace(/\s+/g, " ").slice(0, 200);
    return { step: "command", what: `\`${command}\` exited ${was.exit_code} and now ${how}` };
  }
  return null;
}

function diffDifference(then: Outcome, now: Outcome): string {
  const sections = (diff: string | null): ReadonlyMap<string, string> =>
    new Map(splitDiff(diff ?? "").map(({ path, diff: text }) => [path, text]));
  const [was, is] = [sections(then.diff), sections(now.diff)];
  for (const path of [...new Set([...was.keys(), ...is.keys()])].toSorted()) {
    if (!is.has(path)) return `${path} changed then and not now`;
    if (!was.has(path)) return `${path} changed now and not then`;
    if (was.get(path) !== is.get(path)) return `the change of ${path} differs`;
  }
  return "the files that the task was to leave differ";
}
