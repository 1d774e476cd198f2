// Prints a list of things: a row for each, below the names of the columns.
import type { Screen } from "./screen.ts";
import { table } from "./table.ts";

export function printList(
  { out, colours }: Screen,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const [header = "", ...lines] = table([columns, ...rows]);
  out(colours.dim(header.trimEnd()));
  for (const line of lines) out(line.trimEnd());
}
