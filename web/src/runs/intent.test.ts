import { packAgent } from "@antiphon/contracts/runs/pack-agent";
import { validate } from "@antiphon/contracts/validation/validate";
import { expect, it } from "vitest";
import { intentOf, lackOf, NO_FIELDS } from "./intent.ts";

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

it("makes the brief of the seed of a goal alone, and of every field", () => {
  const brief = { ...NO_FIELDS, goal: "daily brief", about: "brief" as const, repo: "/srv/app" };
  expect(intentOf({ ...brief, topics: "infra" })).toEqual({
    goal: "daily brief",
    inputs: { topics: ["infra"] },
    constraints: {},
  });
  const all = intentOf({
    ...{ ...brief, connector: "work-items", topics: " infra, ,security", projects: "/srv/a\n\n/srv/b\n" },
    ...{ agent: "scripted", does: "true" },
    ...{ checks: "npm test", landOn: "main", approvals: 2 }, // Fields that only a repository has.
  });
  expect(validate("Intent", all).ok).toBe(true);
  expect(all).toEqual({
    goal: "daily brief",
    connectors: ["work-items"],
    inputs: {
      projects: ["/srv/a", "/srv/b"],
      topics: ["infra", "security"],
      agent: { kind: "scripted", commands: ["true"] },
    },
    constraints: {},
  });
});

it("is complete with a goal for a brief, and with an agent too for a repository", () => {
  expect(lackOf(fields, false)).toBeNull();
  expect(lackOf({ ...fields, does: " " }, false)).toBe("A run needs a program.");
  expect(lackOf({ ...fields, agent: "scripted", does: " " }, false)).toBe("A run needs a command.");
  expect(lackOf({ ...fields, repo: " " }, false)).toBe("A run needs a repository.");
  expect(lackOf({ ...fields, does: "" }, true)).toBeNull();
  expect(lackOf({ ...fields, goal: " " }, true)).toBe("A run needs a goal.");
  expect(lackOf({ ...fields, about: "brief", repo: "", does: "" }, false)).toBeNull();
  // An amount that cannot be read would otherwise be no budget, without a word.
  for (const modelUsd of ["1,5", "abc", "-1"])
    expect(lackOf({ ...fields, modelUsd }, true)).toBe(
      `"${modelUsd}" is no amount in USD: write it like 0.50.`,
    );
  for (const modelUsd of ["", "0", " 1.5 "]) expect(lackOf({ ...fields, modelUsd }, true)).toBeNull();
});
