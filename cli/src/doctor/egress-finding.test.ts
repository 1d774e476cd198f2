import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { egressFinding, faultIn } from "./egress-finding.ts";

test("a configuration is fine, and one that is none is named with its line or entry", () => {
  expect(faultIn("{}")).toBeNull();
  expect(faultIn('{\n "models": [\n}')).toMatch(/^:3 is not JSON: /);
  expect(faultIn("{")).toMatch(/^:1 is not JSON: /);
  expect(faultIn('{"models": [{"host": "a.test"}]}')).toMatch(/^: \/models\/0/);
});

test("the file of the state directory is a finding of the doctor, if there is one", () => {
  const directory = mkdtempSync(join(tmpdir(), "doctor-"));
  try {
    expect(egressFinding(directory)).toBeNull();
    writeFileSync(join(directory, "egress.json"), "{");
    expect(egressFinding(directory)).toMatchObject({ name: "models", state: "problem" });
    writeFileSync(join(directory, "egress.json"), "{}\n");
    expect(egressFinding(directory)).toMatchObject({ state: "ok" });
  } finally {
    rmSync(directory, { recursive: true });
  }
});
