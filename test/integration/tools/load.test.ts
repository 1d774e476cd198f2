/** A small load through real processes: the tool works, and it measures the product. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { load } from "../../load/load.ts";
import { readOptions } from "../../load/options.ts";
import { isSound, isTooDear } from "../../load/report.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

it("a load of scripted runs ends with each of them complete, landed once, and accounted for", async () => {
  const args = "--runs 24 --warmup 0 --concurrency 12 --agent scripted --no-bounds --json".split(" ");
  const report = await load(readOptions(args));
  expect(report.errors).toEqual({ refused: 0, unfinished: 0, lost: 0, doubled: 0, failed: 0, first: [] });
  expect(isSound(report)).toBe(true);
  expect(report.runs).toBe(24);
  expect(report.records).toBe(24 * 8); // intent routed dispatch claim result verdict landing closed
  expect(report.stagesMs["verdict to landing"]?.n).toBe(24);
  expect(report.processes.map(({ name }) => name)).toEqual([
    "nats-server",
    "router",
    "director-1",
    "associate-1",
    "load client",
  ]);
  for (const { cpuS, rssMb } of report.processes) {
    expect(cpuS).toBeGreaterThan(0);
    expect(rssMb).toBeGreaterThan(10);
  }
});

it.each([
  ["2.2", 2.1, false],
  ["2.2", 2.3, true],
  ["2.2", Number.NaN, true], // No run was complete.
  [null, 99, false],
])("with --max-cpu %s a run of %s ms of CPU fails the load: %s", (allowed, cpuMsPerRun, fails) => {
  const options = readOptions(allowed === null ? [] : ["--max-cpu", allowed]);
  expect(isTooDear({ options, cpuMsPerRun })).toBe(fails);
});

it("the stand-ins for sandbox, clean room and git under load are out of the product's reach", () => {
  const sources = ["contracts", "client", "run", "git", "runtime", "services", "cli"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter(
        (path) => /\.(ts|mjs)$/.test(path) && !path.includes("node_modules") && !path.endsWith(".test.ts"),
      )
      .map((path) => join(folder, path)),
  );
  expect(sources.length).toBeGreaterThan(200);
  const text = (path: string): string => readFileSync(join(ROOT, path), "utf8");
  expect(sources.filter((path) => /from "[^"]*\/test\//.test(text(path)))).toEqual([]);
  expect(
    sources.filter((path) => /in-?process(Sandbox|Room|Repository|Trees|-ports)/i.test(text(path))),
  ).toEqual([]);
  // The seams the load tool uses: production gives them the real ports, in one place each.
  const users = (name: string): string[] =>
    sources.filter((path) => new RegExp(`\\b${name}\\b`).test(text(path)));
  expect(users("directOver")).toEqual([
    "services/director/src/directing.ts",
    "services/director/src/wiring.ts",
  ]);
  expect(users("associateOver")).toEqual(["services/associate/src/wiring.ts"]);
});
