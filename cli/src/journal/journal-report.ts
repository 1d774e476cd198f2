// Prints the doctor's findings about the journal as lines for a terminal. Pure.
import type { JournalFault } from "@antiphon/run/audit/journal-fault";
import type { JournalReport } from "./journal-check.ts";
import type { RebuildReport } from "./journal-rebuild.ts";
import type { Colours } from "../screen/colours.ts";

export function reportLines(report: JournalReport, c: Colours): string[] {
  const { faults, notes, runs, records, open, unsigned } = report;
  const count = faults.length === 1 ? "1 fault" : `${faults.length} faults`;
  const words = [
    `${runs} runs, ${records} records checked: ${faults.length === 0 ? c.green("whole") : c.red(count)}`,
  ];
  if (open > 0) words.push(c.dim(`${open} open: the last record of an open run is not sealed yet`));
  if (unsigned > 0) words.push(c.dim(`${unsigned} decisions have no signature`));
  return [...faults.flatMap((fault) => faultLines(fault, c)), ...notes, ...words];
}

function faultLines(fault: JournalFault, c: Colours): string[] {
  const { kind, code, runId, subject, seq, expected, found, remedy } = fault;
  const where = [
    runId ?? "stream",
    seq === null ? "seq unknown" : `seq ${seq}`,
    subject ?? "register unknown",
  ];
  const about = runId === null ? where.slice(0, 2) : where;
  return [
    `${c.red(kind.padEnd(10))}  ${about.join("  ")}  (${code})`,
    `            expected: ${expected}`,
    `            found:    ${found}`,
    `            ${c.dim("remedy:")}   ${remedy}`,
  ];
}

export function rebuildLines(
  { runs, rebuilt, left, written, restored }: RebuildReport,
  c: Colours,
): string[] {
  const lines = rebuilt.map(({ runId, written: own, restored: landings, goesOn }) => {
    const words = [
      ...(own.length === 0 ? [] : [`wrote ${own.join(", ")}`]),
      ...landings.map((subject) => `found ${subject}`),
      ...(goesOn ? ["its landing is still in progress; run this again later"] : []),
    ];
    return `${c.green("rebuilt   ")}  ${runId}  ${words.join("; ")}`;
  });
  const leftLines = left.map(
    ({ runId, code, message }) => `${c.red("skipped   ")}  ${runId}  (${code}) ${message}`,
  );
  const nothing = written + restored === 0 && left.length === 0 && rebuilt.length === 0;
  const total = nothing
    ? `${runs} runs: all documents are correct, nothing was written`
    : `${runs} runs: ${written} documents written, ${restored} landings found again, ${left.length} runs skipped`;
  return [...lines, ...leftLines, total];
}
