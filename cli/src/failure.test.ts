import { AntiphonError } from "@antiphon/contracts";
import { describe, expect, it } from "vitest";
import { Failure, usage } from "./failure.ts";

describe("a failure", () => {
  it("takes remedy and exit code from the table", () => {
    const failure = new Failure("ANT_GATEWAY_UNREACHABLE", "nobody there");
    expect(failure.exitCode).toBe(4);
    expect(failure.remedy).toContain("antiphon dev");
  });

  it("keeps a code of another version's gateway, with the words that came with it", () => {
    const failure = new Failure("ANT_FUTURE_THING", "new", { remedy: "upgrade" });
    expect(failure.toJSON()).toEqual({
      error: { code: "ANT_FUTURE_THING", message: "new", remedy: "upgrade" },
    });
    expect(failure.exitCode).toBe(1);
  });

  it("keeps the code of an AntiphonError and names what has none", () => {
    expect(Failure.from(new AntiphonError("ANT_REPO_DIRTY", "3 files")).exitCode).toBe(2);
    expect(Failure.from(new TypeError("boom")).code).toBe("ANT_INTERNAL");
    expect(usage("no").exitCode).toBe(2);
  });
});
