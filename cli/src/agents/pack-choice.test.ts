import { expect, test } from "vitest";
import { choiceOf, partsOf } from "./pack-choice.ts";

const pack = {
  ...{ name: "a", argv: ["a"], prompt: "stdin" as const },
  model: { shape: "openai" as const, host: "models.test", name: "m" },
};

test.each([
  ["pi", { name: "pi" }],
  ["pi@small", { name: "pi", model: "small" }],
  ["pi@small@models.example", { name: "pi", model: "small", host: "models.example" }],
  ["pi@a@v0.3", { name: "pi", model: "a@v0.3" }],
])("%s is an agent with its model and host", (given, parts) => {
  expect(partsOf(given)).toEqual(parts);
});

test("of a list, --model is for the agents that take one and have none of their own", () => {
  const flags = { agent: "a,b@own,c", model: "m1", modelHost: "h.test" };
  expect(choiceOf(pack, undefined, flags)).toEqual({ model: "m1", modelHost: "h.test" });
  expect(choiceOf(pack, { model: "own" }, flags)).toEqual({ model: "own", modelHost: "h.test" });
  const { model: _model, ...without } = pack;
  expect(choiceOf(without, undefined, flags)).toEqual({ model: undefined, modelHost: undefined });
  expect(choiceOf(without, undefined, { agent: "c", model: "m1" })).toMatchObject({ model: "m1" });
});
