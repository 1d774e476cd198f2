// Aligns columns by what a terminal shows of them, and formats durations and sizes. Pure.
import { shown, widthOf } from "./colours.ts";

export function table(rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map((cell) => ({ text: shown(cell), width: widthOf(cell) })));
  const widths: number[] = [];
  for (const row of cells) row.forEach(({ width }, i) => (widths[i] = Math.max(widths[i] ?? 0, width)));
  return cells.map((row) =>
    row
      .map(({ text, width }, i) =>
        i === row.length - 1 ? text : text + " ".repeat((widths[i] ?? 0) - width),
      )
      .join("  "),
  );
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
