import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { HEADERS } from "../wire/headers.ts";
import { JOURNAL_TYPES, LEAF_TYPES } from "../journal/record.ts";
import { LIMITS, limits } from "../limits.ts";
import { digestOfJson } from "../wire/codec.ts";
import {
  CONSUMER_TYPES,
  TIMER_CONSUMER,
  TIMER_STREAM,
  TOPOLOGY_VERSION,
  journalStream,
  keys,
  topology,
} from "./topology.ts";

describe("topology", () => {
  test("streams, consumers and buckets are the ones that were agreed", () => {
    expect(topology).toMatchSnapshot();
  });

  test("its version is raised when it changes, because older services leave a newer table alone", () => {
    expect({ version: TOPOLOGY_VERSION, digest: digestOfJson(topology) }).toMatchSnapshot();
  });

  test("runtime/J7: the journal is on disk and never drops an old record by itself", () => {
    const journal = topology.streams.filter(({ name }) => name.startsWith("ANT_JOURNAL_"));
    expect(journal).toHaveLength(1);
    for (const stream of journal) {
      expect(stream).toMatchObject({ storage: "file", discard: "new", retention: "limits", maxAgeMs: 0 });
    }
  });

  test("every record type is read by a service or named as a leaf, and not both", () => {
    const read = new Set(Object.values(CONSUMER_TYPES).flat());
    expect([...read, ...LEAF_TYPES].sort()).toEqual([...JOURNAL_TYPES].sort());
  });

  test("every consumer filters within its own stream, and redelivery is bounded by the service, not the server", () => {
    for (const consumer of topology.consumers) {
      expect(topology.streams.map(({ name }) => name)).toContain(consumer.stream);
      expect(consumer.maxDeliver).toBe(-1);
      expect(consumer.stream).toBe(consumer.name === TIMER_CONSUMER ? TIMER_STREAM : journalStream(0));
    }
  });

  test("keys of projections are legal in a KV bucket", () => {
    const all = [
      keys.routerContract("run_a"),
      keys.taskContract("run_a", "T-001"),
      keys.verdictEvidence("run_a", "T-001", 2),
    ];
    for (const key of all) expect(key).toMatch(/^[-/_=.a-zA-Z0-9]+$/);
    expect(all).toEqual(["run_a.router", "run_a.T-001", "run_a.T-001.2.verdict"]);
  });
});

test("header names are the ones that were agreed", () => {
  expect(HEADERS).toMatchSnapshot();
});

describe("limits", () => {
  test("the reference page, which `npm run generate` writes, is their snapshot: the same limits in both", () => {
    const page = readFileSync(new URL("../../../docs/reference/limits.md", import.meta.url), "utf8");
    const documented = [...page.matchAll(/^\| `(\w+)` \| (\d+) \|/gm)].map(
      ([, name, value]) => `${name} ${value}`,
    );
    expect(documented).toEqual(LIMITS.map(({ name, value }) => `${name} ${value}`));
  });

  test("each has a value, a unit, a reason and a behaviour at the bound", () => {
    for (const limit of LIMITS) {
      expect(limit.value, limit.name).toBeGreaterThan(0);
      expect(Number.isSafeInteger(limit.value), limit.name).toBe(true);
      expect(limit.reason, limit.name).not.toBe("");
      expect(limit.atTheBound, limit.name).not.toBe("");
    }
  });

  test("a name ends in its unit", () => {
    const suffix: Record<string, RegExp> = {
      milliseconds: /Ms$/,
      seconds: /S$/,
      bytes: /Bytes$/,
      percent: /Percent$/,
    };
    for (const { name, unit } of LIMITS) if (suffix[unit] !== undefined) expect(name).toMatch(suffix[unit]);
  });

  test("bounds that the documentation states as numbers keep their values", () => {
    expect(limits).toMatchObject({
      messageBytes: 65_536,
      sandboxFiles: 2000,
      sandboxFileBytes: 64 * 1024 * 1024,
      outputKeptBytes: 4 * 1024 * 1024,
      taskTimeBudgetS: 300,
      sandboxProcesses: 256,
    });
  });
});
