import { describe, expect, it } from "vitest";
import { plain } from "./screen.ts";
import { bytes, duration, table } from "./table.ts";

describe("printed text", () => {
  it("shows control characters from outside in escaped form", () => {
    expect(plain("a\u001b[31mb\u0007\r\nc\td")).toBe("a\\x1b[31mb\\x07\nc\td");
  });

  it("aligns columns by their visible width", () => {
    expect(
      table([
        ["a", "1"],
        ["\u001b[1mlong\u001b[22m", "2"],
      ]),
    ).toEqual(["a     1", "\u001b[1mlong\u001b[22m  2"]);
  });

  it("gives durations and sizes in readable units", () => {
    expect([0, 950, 12_340, 125_000].map(duration)).toEqual(["0 ms", "950 ms", "12.3 s", "2 m 5 s"]);
    expect([12, 2_048, 5 * 1_048_576, 3 * 2 ** 30].map(bytes)).toEqual([
      "12 B",
      "2.0 KiB",
      "5.0 MiB",
      "3.0 GiB",
    ]);
  });
});
