import type { PolicyProfile } from "@antiphon/contracts";
import { expect, test } from "vitest";
import { DEPLOYED, LOCAL } from "./built-in-policies.ts";
import { gatesOf, judgesOf } from "./judges.ts";

const profile = (says: Partial<PolicyProfile>): PolicyProfile => ({
  ...DEPLOYED.profiles["default"]!,
  ...says,
});
const judge = (name: string) => ({ kind: "command" as const, argv: [name] });

test("a run may bring its own judge only where every profile says so, as that of one person on one machine does", () => {
  expect(judgesOf(Object.values(LOCAL.profiles)).own).toBe(true);
  expect(judgesOf(Object.values(DEPLOYED.profiles)).own).toBe(false);
  expect(judgesOf([profile({ ownJudges: true }), profile({})]).own).toBe(false);
  expect(judgesOf([]).own).toBe(false);
});

test("a skill without an agent is judged by its profile's judge, else by that of the first profile that names one", () => {
  const code = { name: "code", skill: "reviewer" as const };
  const people = { name: "people" };
  const named = { name: "own", skill: "qa" as const, agent: judge("named") };
  const [first, second] = [
    profile({ gates: [code, people, named] }),
    profile({ judge: judge("b"), gates: [code] }),
  ];
  expect(gatesOf([first, second, profile({ judge: judge("c"), gates: [code] })])).toEqual([
    { ...code, agent: judge("b") },
    people,
    named,
    { ...code, agent: judge("b") },
    { ...code, agent: judge("c") },
  ]);
  expect(gatesOf([first])).toEqual([code, people, named]);
});
