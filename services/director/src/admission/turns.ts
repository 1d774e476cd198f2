/**
 * The order in which held attempts are admitted while the Associates have enough to do. Pure.
 *
 * Promises:
 *   director/D9 Because tenants take turns, a batch has one turn in eight while one waits, and one attempt is admitted
 *     every limits.dispatchTurnMs even without room, each held attempt is admitted once and none waits for ever.
 */
import type { HeldAttempts } from "@antiphon/contracts";

export interface Waiting {
  readonly key: string;
  readonly tenant: string;
  readonly batch: boolean;
}

export interface Turns {
  /** In the order of arrival. */
  readonly waiting: readonly Waiting[];
  /** The tenant that had the last turn of each class. */
  readonly last: { readonly interactive: string; readonly batch: string };
  /** Turns since a batch had one. */
  readonly sinceBatch: number;
}

/** Interactive attempts go first, except for one turn in so many while a batch attempt waits. */
const BATCH_TURN = 8;

export const noTurns: Turns = { waiting: [], last: { interactive: "", batch: "" }, sinceBatch: 0 };

export function queue(turns: Turns, item: Waiting): Turns {
  if (turns.waiting.some(({ key }) => key === item.key)) return turns; // director/D9
  return { ...turns, waiting: [...turns.waiting, item] };
}

/** How many attempts wait, for each tenant and priority. */
export function heldIn({ waiting }: Turns): HeldAttempts[] {
  const held = new Map<string, HeldAttempts>();
  for (const { tenant, batch } of waiting) {
    const priority = batch ? "batch" : "interactive";
    const key = `${priority} ${tenant}`;
    held.set(key, { tenant, priority, attempts: (held.get(key)?.attempts ?? 0) + 1 });
  }
  return [...held.values()];
}

/** Null when no attempt waits. */
export function nextTurn(turns: Turns): { item: Waiting; turns: Turns } | null {
  const batches = turns.waiting.filter(({ batch }) => batch);
  const batch =
    batches.length > 0 && (batches.length === turns.waiting.length || turns.sinceBatch >= BATCH_TURN - 1); // director/D9
  const among = batch ? batches : turns.waiting.filter((item) => !item.batch);
  const side = batch ? "batch" : "interactive";
  const tenants = [...new Set(among.map(({ tenant }) => tenant))].sort();
  const tenant = tenants.find((name) => name > turns.last[side]) ?? tenants[0]; // director/D9
  const item = among.find((one) => one.tenant === tenant);
  if (item === undefined) return null;
  return {
    item,
    turns: {
      waiting: turns.waiting.filter((one) => one !== item),
      last: { ...turns.last, [side]: item.tenant },
      sinceBatch: batch ? 0 : turns.sinceBatch + 1,
    },
  };
}
