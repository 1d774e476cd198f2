import { expect, it } from "vitest";
import { artifactKind } from "./upload-artifact.ts";

it.each([
  ["fix.patch", "application/octet-stream", "Patch"],
  ["change", "text/x-diff", "Diff"],
  ["junit.xml", "application/xml", "TestResults"],
  ["test-report.json", "application/json", "TestResults"],
  ["latest.txt", "text/plain", "Log"],
])("the kind of %s with %s is %s", (name, contentType, kind) => {
  expect(artifactKind(name, contentType)).toBe(kind);
});
