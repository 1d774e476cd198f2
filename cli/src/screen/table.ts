// Aligns columns by what a terminal shows of them, and formats durations and sizes. Pure.
import { cutTo, shown, widthOf } from "./colours.ts";

/** Spaces between columns. */
const GAP = 2;

export function table(rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map((cell) => ({ text: shown(cell), width: widthOf(cell) })));
  const widths: number[] = [];
  for (const row of cells) row.forEach(({ width }, i) => (widths[i] = Math.max(widths[i] ?? 0, width)));
  return cells.map((row) =>
    row
      .map(({ text, width }, i) =>
        i === row.length - 1 ? text : text + " ".repeat((widths[i] ?? 0) - width),
      )
      .join(" ".repeat(GAP)),
  );
}

/**
 * The rows in a table that is at most `width` wide. From the right, a column is shortened to its least width; if that is not
 * enough, the last one is left out. `least`: null for a column that is never shortened, such as ids.
 */
export function fitted(
  rows: readonly (readonly string[])[],
  width: number,
  least: readonly (number | null)[],
): string[][] {
  const widths = least.map((_, i) => Math.max(0, ...rows.map((row) => widthOf(row[i] ?? ""))));
  let excess = widths.reduce((sum, one) => sum + one, GAP * (widths.length - 1)) - width;
  for (let i = widths.length - 1; i >= 0 && excess > 0; i -= 1) {
    const [now = 0, smallest] = [widths[i], least[i] ?? null];
    if (smallest === null || smallest >= now) continue;
    const kept = Math.max(smallest, now - excess);
    widths[i] = kept;
    excess -= now - kept;
  }
  if (excess > 0 && widths.length > 1)
    return fitted(
      rows.map((row) => row.slice(0, widths.length - 1)),
      width,
      least.slice(0, -1),
    );
  return rows.map((row) => row.slice(0, widths.length).map((cell, i) => shortened(cell, widths[i] ?? 0)));
}

function shortened(cell: string, width: number): string {
  return widthOf(cell) <= width ? cell : `${cutTo(cell, width - 1)}…`;
}

/** 950 -> "950 ms", 12_300 -> "12.3 s", 125_000 -> "2 m 5 s". */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} m ${Math.round((ms % 60_000) / 1_000)} s`;
}

export function bytes(count: number): string {
  if (count < 1_024) return `${count} B`;
  if (count < 1_024 ** 2) return `${(count / 1_024).toFixed(1)} KiB`;
  if (count < 1_024 ** 3) return `${(count / 1_024 ** 2).toFixed(1)} MiB`;
  return `${(count / 1_024 ** 3).toFixed(1)} GiB`;
}
