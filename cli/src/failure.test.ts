import { AntiphonError } from "@antiphon/contracts";
import { describe, expect, it } from "vitest";
import { Failure, usage } from "./failure.ts";

describe("a failure", () => {
  it("takes remedy and exit code from the table", () => {
    const failure = new Failure("ANT_GATEWAY_UNREACHABLE", "nobody there");
    expect(failure.exitCode).toBe(4);
    expect(failure.remedy).toContain("antiphon dev");
  });

  it("keeps an unknown code from another version's gateway, with its message and remedy", () => {
    const failure = new Failure("ANT_FUTURE_THING", "new", { remedy: "upgrade" });
    expect(failure.toJSON()).toEqual({
      error: { code: "ANT_FUTURE_THING", message: "new", remedy: "upgrade" },
    });
    expect(failure.exitCode).toBe(1);
  });

  it("keeps the code of an AntiphonError and gives other errors a code", () => {
    expect(Failure.from(new AntiphonError("ANT_REPO_DIRTY", "3 files")).exitCode).toBe(2);
    expect(Failure.from(new TypeError("boom")).code).toBe("ANT_INTERNAL");
    expect(usage("no").exitCode).toBe(2);
  });
});

it("a remedy names the run of the command line, if there is just one", () => {
  const failure = new Failure("ANT_EVIDENCE_NOT_FOUND", "no change", { data: { httpStatus: 404 } });
  const named = failure.about(["diff", "run_abc"]);
  expect(named.remedy).toContain("antiphon evidence get run_abc");
  expect(named).toMatchObject({
    code: failure.code,
    message: failure.message,
    exitCode: 2,
    data: failure.data,
  });
  expect(failure.about(["diff", "run_abc", "run_abd"]).remedy).toContain("<runId>");
});

it("an error of the file system is reported with its path and a remedy that fits", () => {
  const refused = (code: string, message: string): Failure =>
    Failure.from(
      Object.assign(new Error(`${code}: ${message}, mkdir '/srv/state'`), { code, path: "/srv/state" }),
    );
  const denied = refused("EACCES", "permission denied");
  expect(denied).toMatchObject({
    code: "ANT_STATE_UNWRITABLE",
    message: "/srv/state: permission denied",
    exitCode: 2,
  });
  expect(denied.remedy).toContain("--state-dir");
  expect(refused("EROFS", "read-only file system")).toMatchObject({ code: "ANT_STATE_UNWRITABLE" });
  const full = refused("ENOSPC", "no space left on device");
  expect(full).toMatchObject({ code: "ANT_STATE_DISK_FULL", message: "/srv/state: no space left on device" });
});
