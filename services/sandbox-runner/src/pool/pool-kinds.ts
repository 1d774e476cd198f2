/**
 * Shares the places of the warm pool among the kinds of sandboxes that jobs asked for last. Pure.
 *
 * The attempt of an installed agent is mounted over the agent's layer, and the clean room of the same run is not. A pool with places
 * for one kind would drop what it has at each stage of a run, so each kind has a place if there are enough.
 */

/** The kind with the fewest ready sandboxes; among equals, the first, which was asked for last. */
export function kindToStart(kinds: readonly string[], ready: readonly string[]): string | undefined {
  return [...kinds].sort((a, b) => countOf(a, ready) - countOf(b, ready))[0];
}

/** The kinds of the sandboxes to drop, so that each kind without one gets a place. The most numerous kind gives first. */
export function kindsToDrop(kinds: readonly string[], ready: readonly string[], places: number): string[] {
  const lacking = kinds.filter((kind) => !ready.includes(kind)).length;
  const left = [...ready];
  const dropped: string[] = [];
  while (left.length > Math.max(0, places - lacking)) {
    const most = left.reduce((a, b) => (countOf(b, left) > countOf(a, left) ? b : a));
    left.splice(left.indexOf(most), 1);
    dropped.push(most);
  }
  return dropped;
}

function countOf(kind: string, all: readonly string[]): number {
  return all.filter((one) => one === kind).length;
}
