import { packAgent } from "@antiphon/contracts/runs/pack-agent";
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

it("takes an agent pack as the gateway fills it in, with a budget and the way to its model alone", () => {
  const pack = packAgent({ name: "mine", argv: ["mine"], prompt: "stdin" });
  const chosen = { ...fields, agent: "mine", does: "" };
  const paid = intentOf({ ...chosen, modelUsd: "0.25" }, pack);
  expect(validate("Intent", paid).ok).toBe(true);
  expect(paid).toMatchObject({
    inputs: { agent: { kind: "pack", name: "mine" } },
    constraints: { model_budget: { usd_micro: 250_000 }, egress: { mode: "allowlist", allowlist: [] } },
  });
  for (const modelUsd of ["", "0", "-1", "much"])
    expect(intentOf({ ...chosen, modelUsd }, pack).constraints, modelUsd).toEqual({});
});
