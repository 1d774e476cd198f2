/** The table at the end of a corpus: for each ecosystem, how many cheats were caught and how many honest changes refused. */
export interface Tried {
  readonly ecosystem: string;
  /** Distinct cases have distinct names. */
  readonly name: string;
  readonly cheat: boolean;
  readonly refused: boolean;
}

export interface Tally {
  cheats: number;
  caught: number;
  honest: number;
  falselyRefused: number;
}

/** By ecosystem, in the order of the cases; a case that comes twice counts once. */
export function tally(tried: readonly Tried[]): ReadonlyMap<string, Tally> {
  const known = new Set<string>();
  const rows = new Map<string, Tally>();
  for (const { ecosystem, name, cheat, refused } of tried) {
    const key = JSON.stringify([ecosystem, name]);
    if (known.has(key)) continue;
    known.add(key);
    const row = rows.get(ecosystem) ?? { cheats: 0, caught: 0, honest: 0, falselyRefused: 0 };
    rows.set(ecosystem, row);
    row[cheat ? "cheats" : "honest"] += 1;
    if (refused) row[cheat ? "caught" : "falselyRefused"] += 1;
  }
  return rows;
}

export function total(rows: ReadonlyMap<string, Tally>): Tally {
  const sum: Tally = { cheats: 0, caught: 0, honest: 0, falselyRefused: 0 };
  for (const row of rows.values())
    for (const key of ["cheats", "caught", "honest", "falselyRefused"] as const) sum[key] += row[key];
  return sum;
}

export function tableOf(tried: readonly Tried[]): string {
  const rows = tally(tried);
  const line = (name: string, of: readonly (string | number)[]): string =>
    `${name.padEnd(12)}${of.map((cell) => String(cell).padStart(16)).join("")}\n`;
  const cells = ({ cheats, caught, honest, falselyRefused }: Tally): number[] => [
    ...[cheats, caught, honest, falselyRefused],
  ];
  return [
    line("ecosystem", ["cheats", "caught", "honest", "falsely refused"]),
    ...[...rows].map(([ecosystem, row]) => line(ecosystem, cells(row))),
    line(`${rows.size} in all`, cells(total(rows))),
  ].join("");
}
