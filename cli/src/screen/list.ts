// Prints a list of things: a row for each, below the names of the columns.
import type { Screen } from "./screen.ts";
import { table } from "./table.ts";

export function printList(
  screen: Screen,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const [header = "", ...lines] = table([columns, ...rows]);
  screen.out(screen.colours.dim(header.trimEnd()));
  for (const line of lines) screen.out(line.trimEnd());
}
