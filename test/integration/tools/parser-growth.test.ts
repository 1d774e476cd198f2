/** Every parser of outside input takes linear time and memory; the table is in test/parsers. */
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { run } from "../../e2e/support/program.ts";
import { faultsOf } from "../../parsers/growth.ts";
import { nested, numbered } from "../../parsers/shapes.ts";
import { parsingSources } from "../../parsers/source-scan.ts";
import { ELSEWHERE, PARSERS } from "../../parsers/table.ts";
import { builtProgram } from "../../support/built-program.ts";
import { patient } from "../../support/patience.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

describe("the time of a parser grows no faster than its input", () => {
  it.each(PARSERS.map((parser) => [parser.name, parser] as const))("%s", async (_, parser) => {
    expect(await faultsOf(parser)).toEqual([]);
  });

  it("is reported as too long for a parser that is not linear, so that the rows above can fail", async () => {
    const shapes = [numbered("lines", (i) => `${i}\n`)];
    const quadratic = (text: string): number => {
      let sum = 0;
      for (let i = 0; i < text.length; i += 16)
        for (let j = 0; j < text.length; j += 1) sum += text.charCodeAt(j);
      return sum;
    };
    const row = { name: "a trap", reads: [], shapes, smallest: 16 * 1024, largest: 64 * 1024 };
    expect(await faultsOf({ ...row, run: quadratic })).not.toEqual([]);
    const recursive = (text: string, at = 0): number =>
      at === text.length ? 0 : 1 + recursive(text, at + 1);
    expect(await faultsOf({ ...row, shapes: nested([["[", "]"]]), run: recursive })).not.toEqual([]);
    expect(await faultsOf({ ...row, run: (text) => text.split("\n").length })).toEqual([]);
  });
});

describe("the memory of a parser", () => {
  const HEAP_MIB = 96; // All parsers, and what a linear one may take, fit into 64.
  const MOST_BYTES_PER_CHARACTER = 512;

  it("is bounded for each character of its input", { timeout: patient(300_000) }, async () => {
    const program = await builtProgram(new URL("../../parsers/memory-room.ts", import.meta.url));
    const args = [`--max-old-space-size=${HEAP_MIB}`, "--max-semi-space-size=2", program];
    const room = await run(process.execPath, args, {
      cwd: ROOT,
      timeoutMs: 280_000,
    });
    const lines = room.stdout.trim().split("\n");
    expect(lines.pop(), `${lines.at(-1) ?? ""} ${room.stderr.slice(0, 2_000)}`).toBe("done");
    const large: string[] = [];
    for (let i = 0; i < lines.length; i += 2) {
      const { characters } = JSON.parse(lines[i] ?? "") as { characters: number };
      const { grownKib } = JSON.parse(lines[i + 1] ?? "") as { grownKib: number };
      if (grownKib * 1024 > MOST_BYTES_PER_CHARACTER * characters)
        large.push(`${lines[i] ?? ""}: ${grownKib} KiB`);
    }
    expect(lines.length / 2).toBeGreaterThan(PARSERS.length);
    expect(large).toEqual([]);
  });
});

describe("the table of parsers", () => {
  it("names every source that repeats without a bound or parses a document", () => {
    const named = new Set([...PARSERS.flatMap(({ reads }) => reads), ...Object.keys(ELSEWHERE)]);
    const missing = [...parsingSources()].filter(([path]) => !named.has(path));
    expect(missing, "give it a row in test/parsers, or a reason in ELSEWHERE").toEqual([]);
  });

  it("names no source that does not exist", () => {
    const named = [...PARSERS.flatMap(({ reads }) => reads), ...Object.keys(ELSEWHERE)];
    expect(named.filter((path) => !existsSync(ROOT + path))).toEqual([]);
  });
});
