import { describe, expect, it } from "vitest";
import { differences, refusesToLoosen } from "./topology-diff.ts";

describe("the difference between wanted and stored topology", () => {
  it("finds the fields that differ, ignores unnamed ones, and knows which changes loosen a guarantee", () => {
    const wanted = {
      storage: "file",
      max_age: 0,
      subjects: ["a", "b"],
      allow_direct: true,
      sources: undefined,
    };
    expect(
      differences(wanted, { storage: "file", subjects: ["b", "a"], allow_direct: true, extra: 1 }),
    ).toEqual([]);
    expect(differences(wanted, { storage: "file", subjects: ["a"], allow_direct: true })).toEqual([
      "subjects",
    ]);
    expect(refusesToLoosen({ storage: "memory" }, { storage: "file" })).toEqual(["storage"]);
    expect(refusesToLoosen({ max_bytes: 10 }, { max_bytes: -1 })).toEqual(["max_bytes"]);
    expect(refusesToLoosen({ max_bytes: 10 }, { max_bytes: 5 })).toEqual([]);
    expect(refusesToLoosen({ max_age: 0 }, { max_age: 5 })).toEqual([]);
  });
});
