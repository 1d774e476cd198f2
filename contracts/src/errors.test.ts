import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { AntiphonError, ERROR_CODES, ERRORS, isErrorCode, remedyFor } from "./errors.ts";

describe("the error table", () => {
  test("codes are ANT_<AREA>_<CONDITION>, each with a meaning and a remedy in full sentences", () => {
    for (const code of ERROR_CODES) {
      const { meaning, remedy, httpStatus, exitCode } = ERRORS[code];
      if (!["ANT_INTERNAL", "ANT_USAGE"].includes(code)) expect(code).toMatch(/^ANT_[A-Z]+(_[A-Z]+)+$/);
      expect(meaning, code).toMatch(/^.{10,}[.]$/s);
      expect(remedy, code).toMatch(/^.{8,}[.?!]?$/s);
      expect(httpStatus === 200 || httpStatus >= 400, code).toBe(true);
      expect([0, 1, 2, 3, 4], code).toContain(exitCode);
    }
  });

  test("a remedy names the run that it is about, and other ids only where nobody knows them", () => {
    expect(remedyFor("ANT_VERIFY_SELF_FAILED", "run_a")).toContain("`antiphon logs run_a`");
    for (const code of ERROR_CODES)
      expect(remedyFor(code, "run_a"), code).not.toMatch(/antiphon (?!dlq)[\w ]*<(run|id|runId)>/);
  });

  test("the remedy of a check that does not pass says how to name another one", () => {
    for (const code of [
      "ANT_VERIFY_SELF_FAILED",
      "ANT_VERIFY_CHECK_FAILED",
      "ANT_VERIFY_NO_PROGRAM",
    ] as const)
      expect(ERRORS[code].remedy).toMatch(
        /`antiphon run (--patch <runId> )?--check <command>`.*; a retry keeps/,
      );
  });

  test("is sorted by code", () => {
    expect(ERROR_CODES).toEqual([...ERROR_CODES].sort());
  });

  test("its reference page, which `npm run generate` writes, is its snapshot: the same codes in both", () => {
    const page = readFileSync(new URL("../../docs/reference/errors.md", import.meta.url), "utf8");
    const documented = [...page.matchAll(/^\| `(ANT_[A-Z_]+)`/gm)].map(([, code]) => code);
    expect(documented.sort()).toEqual([...ERROR_CODES].sort());
  });
});

describe("AntiphonError", () => {
  test("carries code, detail, data and cause, and writes itself as a document with its remedy", () => {
    const cause = new Error("ENOENT");
    const error = new AntiphonError("ANT_REPO_NOT_FOUND", "nothing at /x", { data: { path: "/x" }, cause });
    expect(error).toMatchObject({
      httpStatus: 422,
      exitCode: 2,
      disposition: "terminal",
      message: "nothing at /x",
      cause,
    });
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      code: "ANT_REPO_NOT_FOUND",
      message: "nothing at /x",
      remedy: ERRORS.ANT_REPO_NOT_FOUND.remedy,
      data: { path: "/x" },
    });
  });

  test("every thrown value becomes a named failure and keeps its cause", () => {
    const named = new AntiphonError("ANT_USAGE");
    expect(AntiphonError.from(named)).toBe(named);
    expect(AntiphonError.from(new Error("boom"))).toMatchObject({ code: "ANT_INTERNAL", message: "boom" });
    expect(AntiphonError.from("boom", "ANT_RPC_TIMEOUT")).toMatchObject({
      code: "ANT_RPC_TIMEOUT",
      cause: "boom",
    });
  });

  test("only codes of the table are accepted", () => {
    expect(isErrorCode("ANT_USAGE")).toBe(true);
    for (const other of ["ANT_NOPE", "toString", "__proto__", 1, null])
      expect(isErrorCode(other)).toBe(false);
  });
});
