/**
 * The transitions of `run-machine.ts` as a table, made from the machine's own definition when the process starts. The
 * machine stays the only definition; folding by the table costs a fifth of xstate's `transition()`, and a Director folds
 * every record of every run. If the definition holds something that a table cannot express, the
 * process ends at its start.
 */
import { JOURNAL_TYPES, type JournalType } from "@antiphon/contracts";
import type { RunState } from "../state/run-state.ts";
import { runMachine, type RunStage } from "./run-machine.ts";

interface Step {
  readonly isTaken: (now: { readonly context: RunState }) => boolean;
  readonly to: RunStage;
}

export interface Row {
  /** Types of records that are folded; all others are refused. */
  readonly folds: ReadonlySet<JournalType>;
  /** Tried in this order after each record. */
  readonly steps: readonly Step[];
  readonly isFinal: boolean;
}

type Node = (typeof runMachine)["root"];

export const RUN_TABLE = Object.fromEntries(
  Object.entries(runMachine.root.states).map(([stage, node]) => [stage, rowOf(node)]),
) as Readonly<Record<RunStage, Row>>;

function rowOf(node: Node): Row {
  if (node.type === "compound" || node.type === "parallel" || node.entry.length + node.exit.length > 0)
    throw unknown(node, "nested states or entry and exit actions");
  return {
    folds: new Set(JOURNAL_TYPES.filter((type) => isFolded(node, type))),
    steps: (node.always ?? []).map((always) => stepOf(node, always)),
    isFinal: node.type === "final",
  };
}

/** A state's own transition comes first, then the one of the whole machine for the type, then the one for any type. */
function isFolded(node: Node, type: JournalType): boolean {
  const { transitions } = runMachine.root;
  const [transition, ...more] =
    node.transitions.get(type) ?? transitions.get(type) ?? transitions.get("*") ?? [];
  const [action, ...actions] = transition?.actions ?? [];
  const isPlain = more.length + actions.length === 0 && !transition?.guard && !transition?.target;
  if (!isPlain || (action !== "fold" && action !== "refuse"))
    throw unknown(node, `another transition on "${type}" than one that folds or refuses the record`);
  return action === "fold";
}

function stepOf(node: Node, { guard, target, actions }: NonNullable<Node["always"]>[number]): Step {
  const to = target?.[0]?.key;
  if (to === undefined || target?.length !== 1 || actions.length > 0)
    throw unknown(node, "a step without one target, or with actions");
  if (guard === undefined) return { isTaken: () => true, to: to as RunStage };
  const guards = runMachine.implementations.guards as Readonly<Record<string, Step["isTaken"] | undefined>>;
  const isTaken = typeof guard === "string" ? guards[guard] : undefined;
  if (isTaken === undefined) throw unknown(node, "a guard without a name");
  return { isTaken, to: to as RunStage };
}

function unknown({ key }: Node, what: string): Error {
  return new Error(`the state "${key}" of the run machine has ${what}, which run-table.ts does not know`);
}
