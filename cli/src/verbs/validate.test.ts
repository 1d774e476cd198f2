import { expect, test } from "vitest";
import { requireJson } from "./validate.ts";

test("what only YAML allows is no valid JSON, because the gateway and others read it as JSON", () => {
  expect(() => requireJson("policies.json", '{"rules": []}')).not.toThrow();
  for (const text of ['{"rules": [],}', '{\n  "rules": [] # none\n}', "{rules: []}"])
    expect(() => requireJson("policies.json", text)).toThrow(/^policies\.json: .* but is not JSON: ./);
});
