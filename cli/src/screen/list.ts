// Prints a list of things: a row for each, below the names of the columns.
import type { Screen } from "./screen.ts";
import { fitted, table } from "./table.ts";

/** @param least the least width of each column on a terminal that is too narrow, null: its full one; default: no row is shortened */
export function printList(
  screen: Screen,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  least: readonly (number | null)[] | null = null,
): void {
  const all = [columns, ...rows];
  const { width } = screen;
  const [header = "", ...lines] = table(width === null || least === null ? all : fitted(all, width, least));
  screen.out(screen.colours.dim(header.trimEnd()));
  for (const line of lines) screen.out(line.trimEnd());
}
