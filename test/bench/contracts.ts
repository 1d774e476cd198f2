/** Measures the cost of a contract: decode (MessagePack + validate) of a 1 KB DirectorTask, and its neighbours. */
import {
  bodyBytes,
  decode,
  digestOf,
  encode,
  fitsRecord,
  validate,
  type DirectorTask,
} from "@antiphon/contracts";

const TASK: DirectorTask = {
  task_id: "T-001",
  kind: "edit_repo",
  instruction:
    "Fix the failing date parser: months and days are swapped for inputs of the form 03/04/2026. ".repeat(6),
  acceptance_criteria: ["npm test passes", "03/04/2026 is the third of April", "No other format changes"],
  base_ref: "main",
  allowed_tools: ["read_file", "write_file", "edit_file", "bash", "git_checkpoint"],
  egress_profile: { mode: "git+pkg", allowlist: [] },
  verify_profile: { mode: "smoke", commands: ["npm test"] },
  commands: ["npm ci --ignore-scripts", "npm test"],
  time_budget_s: 300,
  return: {
    diff: true,
    diff_format: "unified",
    logs: true,
    files_changed: true,
    artifacts: ["coverage/summary.json"],
  },
};

/** Median CPU microseconds of one call, over batches after a warm-up. CPU time hides other load. */
function measure(call: () => unknown): number {
  for (let i = 0; i < 20_000; i++) call();
  const batches = Array.from({ length: 31 }, () => {
    const started = process.cpuUsage();
    for (let i = 0; i < 1000; i++) call();
    const { user, system } = process.cpuUsage(started);
    return (user + system) / 1000;
  });
  return batches.sort((a, b) => a - b)[15] ?? Number.NaN;
}

export async function run(): Promise<void> {
  const bytes = encode(TASK);
  const text = JSON.stringify(TASK);
  const rows: [string, number, string][] = [
    ["decode: MessagePack + validate", measure(() => validate("DirectorTask", decode(bytes))), "<= 15"],
    ["  of which MessagePack", measure(() => decode(bytes)), ""],
    ["  of which validate", measure(() => validate("DirectorTask", TASK)), ""],
    ["  tolerant reader", measure(() => validate("DirectorTask", TASK, { reader: "tolerant" })), ""],
    ["encode: MessagePack, sorted keys", measure(() => encode(TASK)), ""],
    ["whether it fits a record", measure(() => fitsRecord(TASK)), ""],
    ["  by its encoded size", measure(() => bodyBytes(TASK)), ""],
    ["digest of the bytes", measure(() => digestOf(bytes)), ""],
    ["JSON.parse, for comparison", measure(() => JSON.parse(text) as unknown), ""],
  ];
  console.log(`A DirectorTask of ${bytes.length} bytes (median of 31 batches of 1000, CPU time, warm):`);
  for (const [what, us, goal] of rows)
    console.log(`  ${what.padEnd(36)}${us.toFixed(2).padStart(8)} us  ${goal}`);
  console.log("Not measured: the first call of a contract, which compiles its validator (about 5 ms).");
}
