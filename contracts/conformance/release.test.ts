import { Validator } from "@cfworker/json-schema";
import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { jsonSchemaOf } from "../src/registry/json-schema.ts";
import { registry, SCHEMA_NAMES, schemaNameOf } from "../src/registry/registry.ts";
import { readVersion } from "../src/validation/upcast.ts";
import { formOf } from "../src/validation/reader-form.ts";
import { changedShapes, undocumented } from "./discipline.ts";
import { goldenOf, readText } from "./proof.ts";
import type { Release } from "./release.ts";

const releases = readdirSync(new URL("../released/", import.meta.url))
  .filter((file) => file.endsWith(".json"))
  .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
  .map((file) => JSON.parse(readText(`released/${file}`)) as Release);
const latest = releases.at(-1);
if (latest === undefined) throw new Error("contracts/released is empty");

const current = Object.fromEntries(SCHEMA_NAMES.map((name) => [registry[name].id, jsonSchemaOf(name)]));

describe("the discipline of changing a shape", () => {
  test("a released shape has not changed under its id", () => {
    for (const release of releases) expect(changedShapes(release, current), release.version).toEqual([]);
  });

  test("every contract is named in a dated change log entry that gives a reason", () => {
    expect(undocumented(readText("CHANGELOG.md"), Object.keys(current))).toEqual([]);
  });

  test("a changed shape is noticed: a new key, a new enum value, a bound, a key that became required", () => {
    const changes: ((schema: Record<string, unknown>) => void)[] = [
      (schema) => Object.assign(schema.properties as object, { extra: { type: "string" } }),
      (schema) => (schema.required as string[]).push("base_ref"),
      (schema) =>
        Object.assign((schema.properties as Record<string, object>).kind ?? {}, { enum: ["edit_repo"] }),
      (schema) =>
        Object.assign((schema.properties as Record<string, object>).time_budget_s ?? {}, { default: 600 }),
    ];
    for (const change of changes) {
      const schema = jsonSchemaOf("DirectorTask");
      change(schema);
      expect(changedShapes(latest, { ...current, "DirectorTask.v0": schema })).toEqual(["DirectorTask.v0"]);
    }
    const words = { ...jsonSchemaOf("DirectorTask"), description: "Other words." };
    expect(changedShapes(latest, { ...current, "DirectorTask.v0": words })).toEqual([]);
  });

  test("a released contract cannot disappear, and a new one needs its change log entry", () => {
    const { "Intent.v0": _, ...without } = current;
    expect(changedShapes(latest, without)).toEqual(["Intent.v0"]);
    expect(undocumented(readText("CHANGELOG.md"), ["Intent.v1"])).toEqual(["Intent.v1"]);
    expect(undocumented("## 2026-01-01\n\n- `Intent.v1`\n", ["Intent.v1"])).toEqual(["Intent.v1"]);
    expect(undocumented("- `Intent.v1`: a reason long enough to be one.\n", ["Intent.v1"])).toEqual([
      "Intent.v1",
    ]);
    expect(undocumented("## 2026-01-01\n\n- `Intent.v1`: goals may have owners.\n", ["Intent.v1"])).toEqual(
      [],
    );
  });
});

describe("old and new readers", () => {
  for (const release of releases) {
    test(`every fixture released with ${release.version} is still read`, () => {
      for (const [id, { valid }] of Object.entries(release.contracts)) {
        for (const [title, document] of Object.entries(valid)) {
          const read = readVersion(id, document, "strict");
          expect(schemaNameOf(read.id), `${id} ${title}`).not.toBeNull();
        }
      }
    });

    test(`every fixture released with ${release.version} is still a fixture, word for word`, () => {
      for (const [id, { valid }] of Object.entries(release.contracts))
        expect(goldenOf(id).valid, id).toMatchObject(valid);
    });
  }

  test("today's messages pass the tolerant reader of the latest release, with an unknown key", () => {
    for (const [id, { schema }] of Object.entries(latest.contracts)) {
      const old = new Validator(formOf(schema, "tolerant"), "2020-12");
      for (const document of Object.values(goldenOf(id).valid)) {
        const newer =
          typeof document === "object" && document !== null ? { ...document, addedLater: 1 } : document;
        expect(old.validate(newer).valid, id).toBe(true);
      }
    }
  });
});
