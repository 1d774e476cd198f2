/** Compares the wanted settings of a stream or consumer with those on the server. Pure. */
type Config = Readonly<Record<string, unknown>>;

/** Names of the wanted fields with another stored value. Fields that we do not name are left to the server. */
export function differences(wanted: object, stored: Config): string[] {
  return Object.entries(wanted)
    .filter(([field, value]) => value !== undefined && !same(value, stored[field]))
    .map(([field]) => field);
}

function same(wanted: unknown, stored: unknown): boolean {
  if (Array.isArray(wanted)) return Array.isArray(stored) && listed(wanted) === listed(stored);
  // The server leaves zero values out of its JSON.
  if (stored === undefined) return wanted === false || wanted === 0 || wanted === "";
  return wanted === stored;
}

/** A list of names in a fixed order. */
function listed(names: readonly unknown[]): string {
  return JSON.stringify(names.map(String).sort());
}

/** The fields in which a change from `stored` to `wanted` would give up a guarantee. */
export function refusesToLoosen(wanted: object, stored: Config): string[] {
  const want = wanted as Config;
  const loosened: string[] = [];
  if (stored["storage"] === "file" && want["storage"] === "memory") loosened.push("storage");
  if (stored["discard"] === "new" && want["discard"] === "old") loosened.push("discard");
  if (stored["deny_delete"] === true && want["deny_delete"] === false) loosened.push("deny_delete");
  if (stored["deny_purge"] === true && want["deny_purge"] === false) loosened.push("deny_purge");
  if (shorter(want["max_age"], stored["max_age"], 0)) loosened.push("max_age");
  if (shorter(want["max_bytes"], stored["max_bytes"], -1)) loosened.push("max_bytes");
  if (Number(want["num_replicas"] ?? 1) < Number(stored["num_replicas"] ?? 1)) loosened.push("num_replicas");
  return loosened;
}

function shorter(wanted: unknown, stored: unknown, unbounded: number): boolean {
  if (typeof wanted !== "number" || wanted === unbounded) return false;
  const have = typeof stored === "number" ? stored : unbounded;
  return have === unbounded || have <= 0 || wanted < have;
}
