import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type ProjectConfig, type TestSpecification } from "vitest/node";
import { ALL_ONLY, COMMIT, LONGEST_FIRST, NIGHTLY } from "./test/tiers.ts";

/** Most files wait for a server, a container or a lease half of the time: one lane more than processors keeps these busy. */
const LANES = Math.min(4, availableParallelism() + 1);

const COMMIT_MODE = "commit";

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = LONGEST_FIRST.findIndex((file) => moduleId.endsWith(`/${file}`));
      return place === -1 ? LONGEST_FIRST.length : place;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

/** Files below `test/<folder>`, side by side with the other projects' files; `--mode commit` leaves the long ones out. */
function overServers(folder: string, mode: string, timeoutMs: number): ProjectConfig {
  const tier = mode === COMMIT_MODE ? COMMIT : [...COMMIT, ...ALL_ONLY];
  return {
    name: folder,
    sequence: { groupOrder: 1 },
    include: tier.filter((file) => file.startsWith(`test/${folder}/`)),
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    maxWorkers: LANES,
  };
}

export default defineConfig(({ mode }) => ({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: "unit",
          pool: "threads",
          isolate: false,
          testTimeout: 20_000, // Ends a test that hangs. Some properties take two seconds on a quiet machine.
          sequence: { groupOrder: 0 },
          include: [
            "{contracts,client,run,git,runtime,services,cli,web,scripts,setup}/**/*.test.ts",
            "test/chaos/{checker/**/*,fault-script}.test.ts",
          ],
          exclude: ["**/node_modules/**"],
        },
      },
      { test: overServers("integration", mode, 60_000) },
      { test: overServers("e2e", mode, 120_000) },
      {
        // A campaign has deadlines of its own: the long one beside the two short ones, and nothing else beside these.
        test: {
          ...overServers("chaos", mode, 5_000),
          sequence: { groupOrder: 2 },
          maxWorkers: 2,
        },
      },
      {
        // Its worlds fill every processor.
        test: {
          ...overServers("simulation", mode, 60_000),
          sequence: { groupOrder: 3 },
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: "nightly",
          sequence: { groupOrder: 4 },
          include: [...NIGHTLY],
          maxWorkers: 1,
        },
      },
    ],
  },
}));
