/**
 * Whose turn it is among the attempts that are held back because the Associates have enough to do. Pure.
 *
 * Invariants:
 *   O1 Interactive before batch, but of any `BATCH_TURN` turns in a row one is a batch's while a batch waits.
 *   O2 Within a class tenants take turns, whatever each has waiting; within a tenant the first come is the first.
 *   O3 Nothing that waits is forgotten or given two turns.
 */
export interface Waiting {
  readonly key: string;
  readonly tenant: string;
  readonly batch: boolean;
}

export interface Turns {
  /** In the order they came. */
  readonly waiting: readonly Waiting[];
  /** The tenant that had the last turn of each class. */
  readonly last: { readonly interactive: string; readonly batch: string };
  /** Turns since a batch had one. */
  readonly sinceBatch: number;
}

const BATCH_TURN = 8;

export const noTurns: Turns = { waiting: [], last: { interactive: "", batch: "" }, sinceBatch: 0 };

export function queue(turns: Turns, item: Waiting): Turns {
  if (turns.waiting.some(({ key }) => key === item.key)) return turns; // O3
  return { ...turns, waiting: [...turns.waiting, item] };
}

/** Null when nobody waits. */
export function nextTurn(turns: Turns): { item: Waiting; turns: Turns } | null {
  const batches = turns.waiting.filter(({ batch }) => batch);
  const batch =
    batches.length > 0 && (batches.length === turns.waiting.length || turns.sinceBatch >= BATCH_TURN - 1); // O1
  const among = batch ? batches : turns.waiting.filter((item) => !item.batch);
  const side = batch ? "batch" : "interactive";
  const tenants = [...new Set(among.map(({ tenant }) => tenant))].sort();
  const tenant = tenants.find((name) => name > turns.last[side]) ?? tenants[0]; // O2
  const item = among.find((one) => one.tenant === tenant);
  if (item === undefined) return null;
  return {
    item,
    turns: {
      waiting: turns.waiting.filter((one) => one !== item), // O3
      last: { ...turns.last, [side]: item.tenant },
      sinceBatch: batch ? 0 : turns.sinceBatch + 1,
    },
  };
}
