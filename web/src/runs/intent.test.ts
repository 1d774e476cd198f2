import { validate } from "@antiphon/contracts/validation/validate";
import { expect, it } from "vitest";
import { intentOf, NO_FIELDS } from "./intent.ts";

const fields = { ...NO_FIELDS, goal: " Fix it ", repo: "/srv/app", does: "make fix" };

it("leaves out what nobody asked for", () => {
  expect(intentOf(fields)).toEqual({
    goal: "Fix it",
    inputs: { repo: "/srv/app", agent: { kind: "command", argv: ["sh", "-c", "make fix"] } },
    constraints: {},
  });
});

it("makes a valid Intent.v0 of every field", () => {
  const all = intentOf({
    ...fields,
    agent: "scripted",
    does: "one\n\n two \n",
    checks: "npm test\n",
    landOn: " main ",
    approvals: 2,
  });
  expect(validate("Intent", all).ok).toBe(true);
  expect(all.inputs).toMatchObject({
    agent: { kind: "scripted", commands: ["one", "two"] },
    checks: ["npm test"],
    land_on: "main",
  });
  expect(all.constraints).toEqual({ approvals: { needed: 2 } });
});
