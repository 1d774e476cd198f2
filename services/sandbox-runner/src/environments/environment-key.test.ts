import { expect, test } from "vitest";
import { environmentKey, type KeyedSpec } from "./environment-key.ts";

const FACTS = { imageId: "sha256:1111", platform: "linux/x64" };
const SPEC: KeyedSpec = {
  commands: ["npm ci"],
  inputs: "00".repeat(32),
  scope: "repo:0123",
  path: [],
  variables: { A: "1", B: "2" },
  tools: ["npm"],
};

test("a key never changes for the same facts, so prepared environments outlive a release", () => {
  expect(environmentKey(SPEC, FACTS)).toBe(
    "98fc214a8445bc796fab29b5fda156c4495294f3884f2a3a719ce21fe265ae7a",
  );
  expect(environmentKey({ ...SPEC, variables: {}, path: ["/tmp/home/.venv/bin"] }, FACTS)).toBe(
    "2051dee45e7fe93a3200e202a38610c3ede804e11475b07d8252742cd8fc0b98",
  );
});

test("the order of variables does not matter", () => {
  expect(environmentKey({ ...SPEC, variables: { B: "2", A: "1" } }, FACTS)).toBe(environmentKey(SPEC, FACTS));
});

test("each fact changes the key", () => {
  const changed = [
    environmentKey(SPEC, FACTS),
    environmentKey(SPEC, { ...FACTS, imageId: "sha256:2222" }),
    environmentKey(SPEC, { ...FACTS, platform: "linux/arm64" }),
    environmentKey({ ...SPEC, commands: ["npm", "ci"] }, FACTS),
    environmentKey({ ...SPEC, inputs: "11".repeat(32) }, FACTS),
    environmentKey({ ...SPEC, scope: "tree:0123" }, FACTS),
    environmentKey({ ...SPEC, path: ["/x"] }, FACTS),
    environmentKey({ ...SPEC, variables: {} }, FACTS),
    environmentKey({ ...SPEC, tools: [] }, FACTS),
  ];
  expect(new Set(changed).size).toBe(changed.length);
});
