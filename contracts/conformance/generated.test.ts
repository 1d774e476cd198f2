import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { generatedFiles, SCHEMA_FOLDER } from "../src/reference/generated-files.ts";
import { registry, type SchemaName } from "../src/registry/registry.ts";
import { conformancePage } from "./index.ts";
import { goldenOf, readText } from "./proof.ts";

const root = new URL("../../", import.meta.url);
const files = generatedFiles(
  (name: SchemaName) => Object.values(goldenOf(registry[name].id).valid)[0],
  conformancePage(),
);

describe("the files derived from the contracts", () => {
  test("are committed as they would be generated (else: npm run generate)", () => {
    const differing = [...files].filter(([path, content]) => {
      const file = new URL(path, root);
      return !existsSync(file) || readFileSync(file, "utf8") !== content;
    });
    expect(differing.map(([path]) => path)).toEqual([]);
  });

  test("include every schema file in the folder", () => {
    const there = readdirSync(new URL(SCHEMA_FOLDER, root), { recursive: true }).map(String);
    const strangers = there.filter(
      (path) => path.endsWith(".json") && !files.has(`${SCHEMA_FOLDER}/${path}`),
    );
    expect(strangers).toEqual([]);
  });

  test("each schema file's $id is its type id, and its dialect is 2020-12", () => {
    for (const { id } of Object.values(registry)) {
      const schema = JSON.parse(readText(`schemas/${id}.json`)) as Record<string, unknown>;
      expect(schema).toMatchObject({ $id: id, $schema: "https://json-schema.org/draft/2020-12/schema" });
    }
  });
});
