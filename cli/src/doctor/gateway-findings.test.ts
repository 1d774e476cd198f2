import { AntiphonError } from "@antiphon/contracts";
import { expect, test } from "vitest";
import { gatewayProblem, policyFindings } from "./gateway-findings.ts";

const url = "http://127.0.0.1:3001";

test("a gateway that has lost NATS is shown with its own code and remedy, not with advice about the token", () => {
  const error = new AntiphonError("ANT_NATS_UNREACHABLE", "the gateway has lost NATS");
  const { code, detail: message, remedy } = error;
  const finding = gatewayProblem(url, 503, JSON.stringify({ error: { code, message, remedy } }));
  expect(finding).toEqual({
    name: "gateway",
    state: "problem",
    detail: `${url} answers 503 ANT_NATS_UNREACHABLE: the gateway has lost NATS`,
    remedy,
  });
});

test("another program at that address is called one", () => {
  expect(gatewayProblem(url, 200, "<html>").detail).toBe(`${url} answers 200, but it is not a gateway`);
  expect(gatewayProblem(url, 500, '{"error": "x"}').remedy).toContain("ANTIPHON_GATEWAY_URL");
  expect(gatewayProblem(url, 404, "null").detail).toBe(`${url} answers 404`);
});

test("stored policies that cannot be read are a problem, because they refuse every run; another refusal is none", () => {
  const {
    code,
    detail: message,
    remedy,
  } = new AntiphonError("ANT_POLICY_INVALID", "ANT_POLICIES/config: no");
  expect(policyFindings({ code, message, remedy })).toEqual([
    { name: "policy", state: "problem", detail: message, remedy },
  ]);
  expect(policyFindings({ code: "ANT_REPO_NOT_GIT", message: "/ is none", remedy: "x" })).toEqual([]);
  expect(policyFindings(null)).toEqual([]);
});
