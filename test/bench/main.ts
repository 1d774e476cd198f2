/**
 * `npm run bench -- <name> [part ...]`: one measurement, printed as a table. Figures are kept in docs/benchmarks/.
 * Some benches have parts that can be selected; without a selection, all are measured.
 */
const BENCHES: Record<string, () => Promise<{ run(parts: readonly string[]): Promise<void> }>> = {
  "main-job": () => import("./main-job.ts"),
  archive: () => import("./archive.ts"),
  "cold-start": () => import("./cold-start.ts"),
  commits: () => import("./commits.ts"),
  contracts: () => import("./contracts.ts"),
  gate: () => import("./gate.ts"),
  endurance: () => import("./endurance.ts"),
  git: () => import("./git.ts"),
  house: () => import("./house.ts"),
  idle: () => import("./idle.ts"),
  layers: () => import("./layers.ts"),
  journal: () => import("./journal.ts"),
  "open-runs": () => import("./open-runs.ts"),
  page: () => import("./page.ts"),
  peers: () => import("./peers.ts"),
  repositories: () => import("./repositories.ts"),
  "run-list": () => import("./run-list.ts"),
  sandbox: () => import("./sandbox.ts"),
  ways: () => import("./ways.ts"),
};

const [name, ...parts] = process.argv.slice(2);
const load = name === undefined ? undefined : BENCHES[name];
if (load === undefined) {
  const asked = name === "--help" || name === "-h";
  console[asked ? "log" : "error"](`usage: npm run bench -- <${Object.keys(BENCHES).join("|")}> [part ...]`);
  process.exitCode = asked ? 0 : 2;
} else {
  await (await load()).run(parts);
}
