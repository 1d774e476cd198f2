import { Validator } from "@cfworker/json-schema";
import { readdirSync, readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test, vi } from "vitest";
import { goldenOf } from "../../conformance/proof.ts";
import { exampleOf, explain, contractList } from "../reference/explain.ts";
import { jsonSchemaOf } from "../registry/json-schema.ts";
import { registry, SCHEMA_NAMES, schemaNameOf, type SchemaName } from "../registry/registry.ts";
import { assertValid, validate, validateShape } from "./validate.ts";

type Json = Record<string, unknown>;
type Case = {
  name: SchemaName;
  id: string;
  valid: [string, unknown][];
  invalid: [string, { path: string; rule?: string; document: unknown }][];
};

const cases: Case[] = SCHEMA_NAMES.map((name) => {
  const { id } = registry[name];
  const { valid, invalid } = goldenOf(id);
  return { name, id, valid: Object.entries(valid), invalid: Object.entries(invalid) };
});

describe("golden fixtures", () => {
  test("every contract has valid and invalid ones, and every file has a contract", () => {
    for (const { id, valid, invalid } of cases) {
      expect(valid.length, id).toBeGreaterThan(0);
      expect(invalid.length, id).toBeGreaterThan(0);
    }
    const files = readdirSync(new URL("../../fixtures/", import.meta.url)).filter((file) =>
      file.endsWith(".json"),
    );
    expect(files.map((file) => file.replace(/\.json$/, "")).sort()).toEqual(cases.map(({ id }) => id).sort());
  });

  for (const { name, id, valid, invalid } of cases) {
    test(`${id}: valid fixtures are accepted by both readers, invalid ones refused where they are wrong`, () => {
      for (const [title, document] of valid) {
        expect(validate(name, document), title).toMatchObject({ ok: true });
        expect(validate(name, document, { reader: "tolerant" }), title).toMatchObject({ ok: true });
      }
      for (const [title, { document, path, rule }] of invalid) {
        const result = validate(name, document);
        if (result.ok) throw new Error(`${title} was accepted`);
        expect(result.errors[0], title).toMatchObject(rule === undefined ? { path } : { path, rule });
        expect(result.errors[0]?.message, title).not.toBe("");
      }
    });
  }

  test("the check that fills in no defaults agrees with the one that does", () => {
    for (const { name, id, valid, invalid } of cases) {
      for (const [title, document] of valid) {
        expect(validateShape(name, Object.freeze(document), "strict"), `${id}: ${title}`).toEqual({
          ok: true,
        });
      }
      for (const [title, { document, path, rule }] of invalid) {
        if (rule !== undefined) continue;
        const shape = validateShape(name, document, "strict");
        expect(shape, `${id}: ${title}`).toMatchObject({ ok: false, errors: [{ path }] });
      }
    }
  });

  test("every rule is broken by a fixture of its own", () => {
    const broken = new Set(cases.flatMap(({ invalid }) => invalid.flatMap(([, { rule }]) => rule ?? [])));
    const rules = new Set(SCHEMA_NAMES.flatMap((name) => registry[name].rules.map(({ id }) => id)));
    expect([...rules].filter((id) => !broken.has(id))).toEqual([]);
  });
});

describe("a second, independent JSON Schema implementation", () => {
  for (const { name, id, valid, invalid } of cases) {
    test(`${id}: agrees on every fixture, with the emitted schema alone`, () => {
      const second = new Validator(jsonSchemaOf(name), "2020-12");
      for (const [title, document] of valid) expect(second.validate(document).valid, title).toBe(true);
      for (const [title, { document, rule }] of invalid) {
        const raw = registry[name].rules.find(({ id: known }) => known === rule)?.raw === true;
        expect(second.validate(document).valid, title).toBe(rule !== undefined && !raw); // rules are beyond the shape
      }
    });
  }
});

/** Every closed object of a document with the path that leads to it. */
function* objects(value: unknown, path: string): Generator<{ at: Json; path: string }> {
  if (Array.isArray(value)) for (const [i, item] of value.entries()) yield* objects(item, `${path}/${i}`);
  else if (typeof value === "object" && value !== null) {
    yield { at: value as Json, path };
    for (const [key, item] of Object.entries(value)) {
      yield* objects(item, `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
    }
  }
}

describe("strict at the edge, tolerant between services", () => {
  for (const { name, id, valid } of cases) {
    test(`${id}: an unknown top-level key is refused by the strict reader and ignored by the tolerant one`, () => {
      for (const [, document] of valid) {
        if (typeof document !== "object" || document === null) continue;
        const more = { ...document, addedLater: { x: 1 } };
        const strict = validate(name, more);
        if (strict.ok) throw new Error("the strict reader took an unknown key");
        expect(strict.errors[0]?.path).toBe("/addedLater");
        expect(validate(name, more, { reader: "tolerant" })).toMatchObject({ ok: true });
      }
    });
  }

  test("a misspelt key is reported with the intended key, at any depth", () => {
    for (const { name, valid } of cases) {
      for (const { at, path } of objects(structuredClone(valid.at(-1)?.[1]), "")) {
        const key = Object.keys(at).find((candidate) => candidate.length > 6);
        if (key === undefined || path.includes("files/")) continue;
        const document = structuredClone(valid.at(-1)?.[1]);
        const target = [...objects(document, "")].find((object) => object.path === path)?.at ?? {};
        const misspelt = `${key.slice(0, 3)}${key.slice(4)}`;
        target[misspelt] = target[key];
        delete target[key];
        const result = validate(name, document);
        if (result.ok) continue; // an open object takes any key
        if (result.errors[0]?.hint === undefined) continue; // an open object of a union
        expect(result.errors[0].hint, `${name} ${path}`).toBe(`did you mean \`${key}\`?`);
      }
    }
  });
});

describe("validate", () => {
  test("nothing is compiled at import, and each validator is compiled once, at its first use", async () => {
    const compile = vi.spyOn(Ajv2020.prototype, "compile");
    vi.resetModules();
    const fresh = await import("./validate.ts");
    expect(compile).toHaveBeenCalledTimes(0);
    for (const reader of ["strict", "strict", "tolerant", "tolerant"] as const)
      expect(fresh.validate("Comment", {}, { reader }).ok).toBe(false);
    expect(compile).toHaveBeenCalledTimes(2);
    compile.mockRestore();
  });

  test("the given value is never written to: defaults go into the copy", () => {
    const { time_budget_s: _, ...task } = goldenOf("DirectorTask.v0").valid["seed example"] as Json;
    const given = Object.freeze(structuredClone(task));
    const result = validate("DirectorTask", given);
    expect(result.ok && result.value.time_budget_s).toBe(300);
    expect(given).not.toHaveProperty("time_budget_s");
    expect(result.ok && result.value).not.toBe(given);
  });

  test("a union is reported for the intended branch", () => {
    const refused = (value: unknown) => {
      const result = validate("AgentSpec", value);
      return result.ok ? null : result.errors[0];
    };
    expect(refused({ kind: "command", argvv: ["x"] })).toMatchObject({
      path: "/argvv",
      hint: "did you mean `argv`?",
    });
    expect(refused({ kind: "comand", argv: ["x"] })).toMatchObject({
      path: "/kind",
      hint: "did you mean `command`?",
    });
    expect(refused({})).toMatchObject({ path: "/kind", message: "`kind` is missing" });
    expect(refused("scripted")).toMatchObject({ path: "", expected: "object" });
  });

  test("assertValid throws a coded error that names the contract, the place and the intended key", () => {
    const bad = { goal: "x", input: {}, constraints: {} };
    expect(() => assertValid("Intent", bad, { code: "ANT_INTENT_INVALID" })).toThrow(
      /Intent: \/input: unknown key `input` \(did you mean `inputs`\?\)/,
    );
  });

  test("an unknown contract name is a coded error, even if it is a property of every object", () => {
    for (const name of ["Nothing", "__proto__", "constructor"])
      expect(() => validate(name as SchemaName, {})).toThrow(/no contract/);
    expect(schemaNameOf("DirectorTask.v0")).toBe("DirectorTask");
    expect(schemaNameOf("toString")).toBeNull();
  });
});

describe("explain", () => {
  test("every contract is explained, with fields, rules and an example that is valid", () => {
    for (const { name, id } of cases) {
      expect(explain(name)).toContain(id);
      expect(validate(name, exampleOf(name)), name).toMatchObject({ ok: true });
      for (const rule of registry[name].rules) expect(explain(name)).toContain(rule.id);
    }
    expect(contractList()).toHaveLength(SCHEMA_NAMES.length);
  });

  test("every JSON example on a contract's reference page is a valid document of it", () => {
    for (const { name, id } of cases) {
      const page = readFileSync(
        new URL(`../../../docs/reference/contracts/${id}.md`, import.meta.url),
        "utf8",
      );
      const examples = [...page.matchAll(/^```json\n(.*?)^```/gms)];
      expect(examples.length, name).toBeGreaterThan(0);
      for (const [, text] of examples)
        expect(validate(name, JSON.parse(text ?? "")), name).toMatchObject({ ok: true });
    }
  });

  test("DirectorTask's defaults and a misspelt name", () => {
    expect(explain("directortask.v0".replace(".v0", ""))).toMatch(/time_budget_s: integer .*default 300/);
    expect(() => explain("DirectorTsk")).toThrow(/did you mean DirectorTask\?/);
  });

  test("every contract and every field a reader must supply is described, in its description or its type", () => {
    for (const { description, id } of contractList()) {
      if (!id.endsWith(".v1.3")) expect(description.length, id).toBeGreaterThan(0);
    }
  });
});

test("a policy with a list of globs that is longer than can be matched is refused, with the place of the list", () => {
  const policy = exampleOf("PolicyConfig") as { profiles: Record<string, object>; defaultProfile: string };
  const withPaths = (protectedPaths: string[]): Json => ({
    ...policy,
    profiles: { "a/b": { ...policy.profiles[policy.defaultProfile], protectedPaths } },
    defaultProfile: "a/b",
    rules: [],
  });
  expect(validate("PolicyConfig", withPaths(["deploy/**"]))).toMatchObject({ ok: true });
  const long = Array.from({ length: 200 }, (_, i) => `generated/${"part/".repeat(20)}${i}/**`);
  for (const globs of [long, ["{a,b}".repeat(30)]])
    expect(validate("PolicyConfig", withPaths(globs))).toMatchObject({
      ok: false,
      errors: [{ path: "/profiles/a~1b/protectedPaths" }],
    });
});
