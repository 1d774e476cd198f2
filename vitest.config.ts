import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          pool: "threads",
          isolate: false,
          sequence: { groupOrder: 0 },
          include: [
            "{contracts,runtime,services,cli,scripts}/**/*.test.ts",
            "test/chaos/{checker/**/*,fault-script}.test.ts",
          ],
          exclude: ["**/node_modules/**"],
        },
      },
      {
        test: {
          name: "integration",
          sequence: { groupOrder: 1 },
          include: ["test/integration/**/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: "chaos",
          sequence: { groupOrder: 4 },
          include: ["test/chaos/survival.test.ts"],
          maxWorkers: 1,
        },
      },
      {
        // Not part of `npm test`: minutes of a machine at its limits.
        test: {
          name: "nightly",
          sequence: { groupOrder: 5 },
          include: ["test/chaos/sandbox/hostile-matrix.test.ts"],
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: "simulation",
          sequence: { groupOrder: 3 },
          include: ["test/simulation/**/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: "e2e",
          sequence: { groupOrder: 2 },
          include: ["test/e2e/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 1,
        },
      },
    ],
  },
});
