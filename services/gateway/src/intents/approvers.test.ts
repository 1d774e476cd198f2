import { AntiphonError, type RunOptions } from "@antiphon/contracts";
import { runOptions } from "@antiphon/contracts/testing/records";
import { describe, expect, it } from "vitest";
import { checkApprovers } from "./approvers.ts";

const needs = (needed: number): RunOptions => runOptions({ approvals: { needed } });
const refused = (eligible: number) =>
  expect.objectContaining({
    code: "ANT_INTENT_OPTIONS",
    data: expect.objectContaining({ path: "/constraints/approvals/needed", eligible }) as object,
  }) as Error;

describe("the approvals a run requires", () => {
  it("are at most one if the deployment cannot tell people apart", () => {
    expect(() => checkApprovers(needs(1), ["local"], [])).not.toThrow();
    expect(() => checkApprovers(needs(2), ["local"], [])).toThrow(refused(1));
    expect(() => checkApprovers(needs(2), ["token"], [])).toThrow(refused(1));
  });

  it("are at most as many as other people have tokens of their own", () => {
    expect(() => checkApprovers(needs(1), ["ann"], ["ann", "ben"])).not.toThrow();
    expect(() => checkApprovers(needs(2), ["ann"], ["ann", "ben"])).toThrow(refused(1));
    expect(() => checkApprovers(needs(1), ["ann"], ["ann"])).toThrow(refused(0));
    expect(() => checkApprovers(needs(3), ["token"], ["ann", "ben"])).not.toThrow();
  });

  it("are not given by those whose answers the run takes over", () => {
    expect(() => checkApprovers(needs(1), ["ann", "ben"], ["ann", "ben"])).toThrow(refused(0));
    expect(() => checkApprovers(needs(1), ["ann", "ben"], ["ann", "ben", "cleo"])).not.toThrow();
    expect(() => checkApprovers(needs(1), ["local", "ben"], ["ben"])).toThrow(refused(0));
  });

  it("are refused with a remedy that says how people get tokens, and how many may be asked for", () => {
    const remedyOf = (people: string[]): string => {
      try {
        checkApprovers(needs(2), ["local"], people);
      } catch (error) {
        return AntiphonError.from(error).remedy;
      }
      return "none";
    };
    expect(remedyOf([])).toMatch(
      /^Ask for at most 1, or add people\. Start the gateway .*ANTIPHON_TOKENS=ann:/,
    );
    expect(remedyOf(["ann"])).toBe("none");
  });

  it("are none if none are requested", () => {
    expect(() => checkApprovers(runOptions(), ["ann"], [])).not.toThrow();
  });
});
