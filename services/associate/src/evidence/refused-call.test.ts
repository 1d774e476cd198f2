import { expect, test } from "vitest";
import type { AgentSpec } from "@antiphon/contracts";
import { refusedCallOf } from "./refused-call.ts";

const program: AgentSpec = { kind: "command", argv: ["agent"] };
const pack: AgentSpec = {
  ...{ kind: "pack", name: "own", install: [], tools: [], path: [], argv: ["agent"], prompt: "stdin" },
  ...{ env: {}, junk: [], model: { host: "Models.test", name: "m" } },
};

test("a refusal that lasts is hopeless only if no other call got through", () => {
  const model_refused = "ANT_EGRESS_NO_KEY: no key for api.example.com: KEY is not set";
  expect(refusedCallOf({ model_calls: 0, model_refused }, program)).toEqual({
    what: "model call",
    code: "ANT_EGRESS_NO_KEY",
    why: "no key for api.example.com: KEY is not set",
    isHopeless: true,
  });
  expect(refusedCallOf({ model_calls: 1, model_refused }, pack)).toMatchObject({ isHopeless: false });
  const reached = { model_calls: 0, model_refused, reached: true } as const;
  expect(refusedCallOf(reached, pack)).toMatchObject({ code: "ANT_EGRESS_NO_KEY", isHopeless: false });
});

test("a host that was refused is the reason if it is the model's, or if the agent is a program of the user's", () => {
  const refused = { model_calls: 0, hosts_refused: ["stats.test", "models.test"] };
  expect(refusedCallOf(refused, pack)).toMatchObject({ code: "ANT_EGRESS_HOST", isHopeless: true });
  expect(refusedCallOf({ ...refused, hosts_refused: ["stats.test"] }, pack)).toBeNull();
  const told = { what: "request", why: "stats.test, models.test may not be reached from its sandbox" };
  expect(refusedCallOf(refused, program)).toMatchObject({ ...told, isHopeless: false });
});

test("without traffic, or with a code that nobody knows, nothing was refused", () => {
  expect(refusedCallOf(null, pack)).toBeNull();
  expect(refusedCallOf({ model_calls: 0 }, program)).toBeNull();
  expect(refusedCallOf({ model_calls: 0, model_refused: "odd" }, program)).toBeNull();
});
