import { runSeed } from "./seed.ts";
const from = Number(process.argv[2] ?? 1), n = Number(process.argv[3] ?? 50);
for (let s = 900; s < 910; s++) await runSeed(s);
const c0 = process.cpuUsage(); const t0 = performance.now(); let runs = 0, steps = 0, records = 0; const bad: Record<string, number[]> = {};
const seen = new Set<number>();
for (let s = from; s < from + n; s++) {
  const r = await runSeed(s); runs += r.runs; steps += r.steps; records += r.records;
  for (const f of r.findings) { const k = f.replace(/run_\w+|as_\S+|\d+/g, "#").slice(0, 120); (bad[k] ??= []).push(s); seen.add(s);}
}
const ms = performance.now() - t0;
const c = process.cpuUsage(c0); console.log({ cpuMsPerSeed: (c.user + c.system) / 1000 / n, cpuMsPerRun: (c.user + c.system) / 1000 / runs, n, runs, steps, records, ms: Math.round(ms), seedsPerS: (n / ms) * 1000, runsPerS: (runs / ms) * 1000, bad: seen.size });
for (const [k, v] of Object.entries(bad)) console.log(v.length, k, [...new Set(v)].slice(0, 6).join(","));
