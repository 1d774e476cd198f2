import { expect, test } from "vitest";
import { readDevcontainer } from "./devcontainer.ts";

test.each([
  ["an image", '{"image": "debian:12"}', { kind: "image", ref: "debian:12" }],
  [
    "comments, trailing commas and what looks like them inside strings",
    '// top\n{\n  /* the // image */ "name": "a // b, }", // end\n  "image": "img:1", /* x */ // y\n}\n',
    { kind: "image", ref: "img:1" },
  ],
  ["an image beside features", '{"image":"a","features":{"x":{}},}', { kind: "image", ref: "a" }],
  [
    "a Dockerfile",
    '{"build": {"dockerfile": "../Dockerfile"}}',
    { kind: "build", dockerfile: "../Dockerfile" },
  ],
  ["a Dockerfile in the old spelling", '{"dockerFile": "D"}', { kind: "build", dockerfile: "D" }],
  ["a compose file", '{"dockerComposeFile": "c.yml"}', { kind: "none", reason: "it uses a compose file" }],
  ["nothing of use", '{"name": "x"}', { kind: "none", reason: "it names no image" }],
  ["an image that is not a string", '{"image": 5}', { kind: "none", reason: "it names no image" }],
  ["a list", "[]", { kind: "none", reason: "it is not JSON with comments" }],
  ["a comment without an end", '{"image": "a" /* ', { kind: "none", reason: "it is not JSON with comments" }],
  ["what is too large", `"${"x".repeat(300_000)}"`, { kind: "none", reason: "it is larger than 256 KiB" }],
])("a devcontainer.json with %s is understood", (_name, text, expected) => {
  expect(readDevcontainer(text)).toEqual(expected);
});

test("a hostile devcontainer.json takes no time", () => {
  const started = performance.now();
  readDevcontainer(`{"a": [${",/*".repeat(40_000)}`);
  readDevcontainer(`{"a": ${'"\\'.repeat(60_000)}`);
  readDevcontainer(`{${", ".repeat(100_000)}`);
  expect(performance.now() - started).toBeLessThan(2_000);
});
