import { describe, expect, test } from "vitest";
import { golden, goldenOf } from "../../conformance/proof.ts";
import { registry, SCHEMA_NAMES, schemaNameOf } from "../registry/registry.ts";
import { readVersion, upcast, UPCASTERS } from "./upcast.ts";
import { validate } from "./validate.ts";

describe("upcasters", () => {
  test("every contract with a newer version has a step to it", () => {
    const ids = SCHEMA_NAMES.map((name) => registry[name].id);
    const older = ids.filter((id) => {
      const [name, version] = id.split(/\.v(?=[\d.]+$)/);
      return ids.includes(`${name}.v${Number(version) + 1}`);
    });
    expect(UPCASTERS.map(({ from }) => from).sort()).toEqual(older.sort());
  });

  for (const { from, to } of UPCASTERS) {
    test(`contracts/C3: every fixture of ${from} becomes a valid ${to}`, () => {
      for (const document of Object.values(goldenOf(from).valid)) {
        const current = upcast(from, document);
        const name = schemaNameOf(current.id);
        expect(current.id).toBe(to);
        expect(name !== null && validate(name, current.value)).toMatchObject({ ok: true });
      }
    });
  }

  test("text files of v0 become UTF-8 files of mode 100644", () => {
    const { value } = upcast("SandboxJob.v0", { ...golden("SandboxJob.v0"), files: { "a.txt": "hi" } });
    expect(value).toMatchObject({ files: { "a.txt": { content: "hi", encoding: "utf8", mode: "100644" } } });
  });

  test("a document without a newer version stays as it is", () => {
    const intent = golden("Intent.v0");
    expect(upcast("Intent.v0", intent)).toEqual({ id: "Intent.v0", value: intent });
  });

  test("contracts/C3: an unknown version is refused by name, and so is a name without a version", () => {
    for (const id of ["DirectorTask.v9", "DirectorTask", "Nothing.v0", "__proto__"]) {
      expect(() => readVersion(id, {})).toThrow(/does not know/);
    }
    expect(readVersion("SandboxJob.v0", golden("SandboxJob.v0")).id).toBe("SandboxJob.v1");
  });

  test("inherited property names are not versions", () => {
    for (const id of ["__proto__", "constructor", "toString", "valueOf"]) {
      expect(upcast(id, { a: 1 })).toEqual({ id, value: { a: 1 } });
      expect(() => readVersion(id, {})).toThrow(/does not know/);
    }
  });

  test("a document of an old version is checked against that version", () => {
    const v1Result = golden("SandboxResult.v1", "full");
    expect(() => readVersion("SandboxResult.v0", v1Result)).toThrow(/SandboxResult/);
  });
});
