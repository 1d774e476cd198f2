// Aligns columns for a terminal and formats durations and sizes. Pure.

export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 0, visible(cell))));
  return rows.map((row) =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : cell + " ".repeat((widths[i] ?? 0) - visible(cell))))
      .join("  "),
  );
}

const COLOUR = /\u001b\[[0-9;]*m/g;

function visible(cell: string): number {
  return cell.replace(COLOUR, "").length;
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
