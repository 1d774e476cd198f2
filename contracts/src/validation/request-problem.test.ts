import { expect, test } from "vitest";
import { exampleOf } from "../reference/explain.ts";
import { requestProblem } from "./request-problem.ts";
import { validate } from "./validate.ts";

function codeOf(value: object): string | null {
  const checked = validate("EgressOpenRequest", value);
  return checked.ok ? null : requestProblem("EgressOpenRequest", value, checked.errors).code;
}

test("a request with a field of a newer release is told apart from a wrong one, however deep the field is", () => {
  const good = exampleOf("EgressOpenRequest") as { grant: object };
  expect(codeOf(good)).toBeNull();
  expect(codeOf({ ...good, colour: "red" })).toBe("ANT_RPC_NEWER");
  expect(codeOf({ ...good, grant: { ...good.grant, colour: "red" } })).toBe("ANT_RPC_NEWER");
  expect(codeOf({ ...good, epoch: "one", colour: "red" })).toBe("ANT_CONTRACT_INVALID");
});
