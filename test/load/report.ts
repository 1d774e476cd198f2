/** The figures of a load as one document, and as a table for people. */
import { cpus } from "node:os";
import type { Audit } from "./audit.ts";
import type { Bounds } from "./bounds.ts";
import type { Driven } from "./drive.ts";
import type { Recovery } from "./killer.ts";
import type { ProcessCost } from "./meters.ts";
import type { LoadOptions } from "./options.ts";

export interface Measured {
  readonly options: LoadOptions;
  readonly driven: Driven;
  readonly audit: Audit;
  readonly costs: readonly ProcessCost[];
  /** All stored messages, evidence and projections included. */
  readonly stored: { readonly messages: number; readonly bytes: number };
  readonly fsyncs: number | string;
  /** The times of bare chains of the same messages at the same rate; null: closed loop. */
  readonly bareMs: readonly number[] | null;
  readonly bounds: Bounds | null;
  readonly recovery: Recovery | null;
  readonly failures: readonly string[];
}

export interface Quantiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
  readonly n: number;
}

export function quantiles(values: readonly number[]): Quantiles {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1), n: sorted.length };
}

export function reportOf(measured: Measured) {
  const { driven, audit, stored, bounds, fsyncs, options } = measured;
  const runs = driven.completeMs.length;
  const runsPerS = (runs / driven.wallMs) * 1000;
  const perRun = {
    records: audit.records / runs,
    messages: stored.messages / runs,
    bytes: stored.bytes / runs,
  };
  return {
    options,
    node: process.version,
    cores: cpus().length,
    runs,
    runsPerS,
    wallS: driven.wallMs / 1000,
    perRun: { ...perRun, fsyncs: typeof fsyncs === "number" ? fsyncs / runs : fsyncs },
    records: audit.records,
    stored,
    fsyncs,
    latencyMs: {
      acceptedToComplete: quantiles(driven.completeMs),
      meantToComplete: quantiles(driven.responseMs),
      bareChain: measured.bareMs === null ? null : quantiles(measured.bareMs),
    },
    stagesMs: Object.fromEntries([...audit.stages].map(([stage, values]) => [stage, quantiles(values)])),
    processes: measured.costs,
    cpuMsPerRun: (measured.costs.reduce((sum, { cpuS }) => sum + cpuS, 0) / runs) * 1000,
    ratios:
      bounds === null
        ? null
        : {
            ...bounds,
            /** The run with one fsync for each message it stores. */
            onePerMessage: runsPerS / (bounds.singles / perRun.messages),
            /** The same, counting journal records only. */
            onePerRecord: runsPerS / (bounds.singles / perRun.records),
            boundPerMessage: runsPerS / (bounds.batchesConsumed / perRun.messages),
            boundPerRecord: runsPerS / (bounds.batchesConsumed / perRun.records),
          },
    again: audit.again,
    recovery:
      measured.recovery === null
        ? null
        : {
            kills: measured.recovery.kills.length,
            worst: measured.recovery.worst,
            hitAgain: measured.recovery.hitAgain,
            ...quantiles(measured.recovery.waitsMs),
          },
    errors: {
      refused: driven.refused.length,
      unfinished: driven.unfinished.length,
      lost: audit.lost.length,
      doubled: audit.doubled.length,
      failed: audit.failed.length,
      first: [
        ...driven.refused.slice(0, 2),
        ...audit.lost.slice(0, 3),
        ...audit.doubled.slice(0, 3),
        ...audit.failed.slice(0, 3),
        ...measured.failures.slice(0, 3),
      ],
    },
  };
}

export type Report = ReturnType<typeof reportOf>;

/** While processes are killed a request may be refused; no promise is broken by that. */
export function isSound({ errors, options }: Report): boolean {
  const refused = options.killEvery === null ? errors.refused : 0;
  return refused + errors.unfinished + errors.lost + errors.doubled + errors.failed === 0;
}

/** Whether a run cost more CPU than the options allow. */
export function isTooDear({
  cpuMsPerRun,
  options: { maxCpuMs },
}: Pick<Report, "cpuMsPerRun" | "options">): boolean {
  return maxCpuMs !== null && !(cpuMsPerRun <= maxCpuMs);
}

const n = (value: number, digits = 0): string =>
  value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });

export function print(report: Report): void {
  const { options, perRun, ratios, errors } = report;
  const loop =
    options.rate === null ? `${options.concurrency} at a time` : `${options.rate} a second, open loop`;
  console.log(
    `\n${report.runs} runs of ${options.steps} task${options.steps === 1 ? "" : "s"}, ${loop}; ${options.agent} agent, sandbox ${options.sandbox}, ` +
      `${options.directors} director(s), ${options.associates} associate(s); started ${options.via === "journal" ? "by the gateway's intake in the client" : "over HTTP"}; ${report.cores} cores, Node ${report.node}, ${options.servers === 1 ? "one server" : "three servers, three copies"}, fsync always`,
  );
  console.log(`\n  ${n(report.runsPerS)} complete runs/s   (${report.wallS.toFixed(1)} s)`);
  console.log(
    `  a run: ${perRun.records.toFixed(1)} journal records, ${perRun.messages.toFixed(1)} stored messages, ${n(perRun.bytes)} bytes, ` +
      `${typeof perRun.fsyncs === "number" ? `${perRun.fsyncs.toFixed(2)} fsyncs` : `fsyncs not counted (${perRun.fsyncs})`}, ${report.cpuMsPerRun.toFixed(2)} ms CPU`,
  );
  console.log(`\n${"ms".padEnd(28)}${["p50", "p95", "p99", "max"].map((h) => h.padStart(9)).join("")}`);
  const line = (name: string, q: Quantiles): void =>
    console.log(name.padEnd(28) + [q.p50, q.p95, q.p99, q.max].map((ms) => n(ms, 1).padStart(9)).join(""));
  line("accepted to complete", report.latencyMs.acceptedToComplete);
  if (options.rate !== null) line("its turn to complete", report.latencyMs.meantToComplete);
  const { bareChain, acceptedToComplete } = report.latencyMs;
  if (bareChain !== null) {
    line("bare messages of a run", bareChain);
    const times = (["p50", "p99"] as const).map((p) => `${p} ${n(acceptedToComplete[p] / bareChain[p], 1)}x`);
    console.log(`  accepted to complete beside it: ${times.join(", ")}`);
  }
  for (const [stage, q] of Object.entries(report.stagesMs)) line(`  ${stage}`, q);
  console.log(
    `\n${"process".padEnd(28)}${["CPU s", "cores", "RSS MB", "peak MB"].map((h) => h.padStart(9)).join("")}`,
  );
  for (const { name, cpuS, rssMb, peakMb } of report.processes)
    console.log(
      name.padEnd(28) +
        [n(cpuS, 1), n(cpuS / report.wallS, 2), n(rssMb), n(peakMb)].map((text) => text.padStart(9)).join(""),
    );
  if (ratios !== null) {
    console.log(
      `\nbounds on the same server: ${n(ratios.singles)} messages/s with one fsync each, ${n(ratios.batches)} in bare batches, ${n(ratios.batchesConsumed)} in batches and consumed`,
    );
    console.log(
      `  ${ratios.onePerMessage.toFixed(2)}x one fsync per stored message (${ratios.onePerRecord.toFixed(2)}x per journal record)`,
    );
    console.log(
      `  ${ratios.boundPerMessage.toFixed(2)} of the batch-publish and consume bound (${ratios.boundPerRecord.toFixed(2)} counting journal records only)`,
    );
  }
  if (report.recovery !== null) {
    const { kills, worst, hitAgain, n: affected } = report.recovery;
    line(`${kills} kills, to progress`, report.recovery);
    const each = Object.entries(worst).map(([kind, ms]) => `${kind} ${n(ms / 1000, 1)} s`);
    console.log(
      `  ${affected} times a run was open at a kill, ${hitAgain} more times one was hit again before it moved; longest by what was killed: ${each.join(", ")}`,
    );
  }
  console.log(
    `\nrefused ${errors.refused}, unfinished ${errors.unfinished}, lost ${errors.lost}, doubled ${errors.doubled}, failed ${errors.failed}; attempts done again ${report.again}`,
  );
  for (const text of errors.first) console.log(`  ${text}`);
  if (isTooDear(report))
    console.log(`a run may cost ${String(options.maxCpuMs)} ms of CPU and cost ${n(report.cpuMsPerRun, 2)}`);
}
