import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type ProjectConfig, type TestSpecification } from "vitest/node";
// @ts-expect-error Plain JavaScript without a declaration.
import { inOrder as untyped } from "./scripts/test/order.mjs";
import SECONDS from "./test/seconds.json" with { type: "json" };
import { patient } from "./test/support/patience.ts";
import { AGAIN_AT_NIGHT, ALL_ONLY, COMMIT, NIGHTLY, OWN_PROCESS } from "./test/tiers.ts";

/**
 * Files wait for servers, containers and leases two thirds of the time: six keep two processors busy. CI, whose processors are
 * shared, has fewer, so that none waits for a processor until its deadline.
 */
const LANES = Math.min(process.env["CI"] === "true" ? 4 : 6, 2 * availableParallelism() + 1);

const COMMIT_MODE = "commit";

/** Of the programs that tests start: each runner keeps one warm sandbox instead of three, two of which no test would use. */
const STARTED = { ANTIPHON_SANDBOX_WARM: "1" };

const inOrder = untyped as (
  files: readonly TestSpecification[],
  facts: {
    seconds: (file: TestSpecification) => number | undefined;
    project: (file: TestSpecification) => string;
  },
) => TestSpecification[];

const seconds = ({ moduleId }: TestSpecification): number | undefined =>
  Object.entries(SECONDS).find(([file]) => moduleId.endsWith(`/${file}`))?.[1];

/** End-to-end tests mostly wait, and integration tests compute, so they take turns although they are one project. */
const kind = ({ moduleId, project: { name } }: TestSpecification): string =>
  name === "servers" && moduleId.includes("/test/e2e/") ? "end to end" : name;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return inOrder(await super.sort(files), { seconds, project: kind });
  }
}

/** Files below one of the folders; `--mode commit` leaves the long ones out. */
function overServers(folders: readonly string[], mode: string, timeoutMs: number): ProjectConfig {
  const tier = mode === COMMIT_MODE ? COMMIT : [...COMMIT, ...ALL_ONLY];
  return {
    sequence: { groupOrder: 1 },
    include: tier.filter((file) => folders.some((folder) => file.startsWith(`test/${folder}/`))),
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    maxWorkers: LANES,
    env: STARTED,
    setupFiles: ["test/support/cpu-account.ts", "test/support/left-behind.ts"],
  };
}

const SERVERS = ["integration", "e2e"];
const SERVERS_MS = patient(120_000);
const SHARED = [...COMMIT, ...ALL_ONLY].filter((file) => !OWN_PROCESS.includes(file));

export default defineConfig(({ mode }) => ({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: "unit",
          pool: "threads",
          isolate: false,
          testTimeout: patient(20_000), // Ends a test that hangs. Some properties take two seconds on a quiet machine.
          sequence: { groupOrder: 0 },
          include: [
            "{contracts,client,run,git,runtime,services,cli,web,scripts,setup}/**/*.test.ts",
            "test/chaos/{checker/**/*,fault-script}.test.ts",
          ],
          exclude: ["**/node_modules/**"],
        },
      },
      {
        // A worker goes from file to file: the modules of all services cost two seconds of the processor each time.
        test: {
          ...overServers(SERVERS, mode, SERVERS_MS),
          name: "servers",
          isolate: false,
          exclude: [...OWN_PROCESS],
        },
      },
      {
        test: {
          ...overServers(SERVERS, mode, SERVERS_MS),
          name: "own-process",
          exclude: SHARED,
        },
      },
      {
        // A campaign has deadlines of its own: the long one beside the two short ones, and nothing else beside these.
        test: {
          ...overServers(["chaos"], mode, 5_000),
          name: "chaos",
          sequence: { groupOrder: 2 },
          maxWorkers: 2,
        },
      },
      {
        // Its worlds fill every processor.
        test: {
          ...overServers(["simulation"], mode, patient(60_000)),
          name: "simulation",
          sequence: { groupOrder: 3 },
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: "nightly",
          sequence: { groupOrder: 4 },
          include: [...Object.keys(NIGHTLY), ...AGAIN_AT_NIGHT],
          env: { ANTIPHON_TEST_NIGHT: "1" },
          testTimeout: SERVERS_MS,
          hookTimeout: SERVERS_MS,
          maxWorkers: 1,
        },
      },
    ],
  },
}));
