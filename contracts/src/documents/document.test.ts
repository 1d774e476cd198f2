import { describe, expect, test } from "vitest";
import { validateDocument, type DocumentCheck } from "./document.ts";

const TASK = `# a task
id: T-001
objective: Fix the parser
scope:
  allowed_files: []
  disallowed_files: []
  allowed_tools: []
  disallowed_tools: []
verification_commands:
  - npm test
acceptance_criteria: []
status: open
`;

const check = (text: string, filename = "x.yaml", schema?: string): DocumentCheck =>
  validateDocument(text, schema === undefined ? { filename } : { filename, schema });

const first = (result: DocumentCheck) => {
  if (result.ok) throw new Error("was accepted");
  return result.errors[0];
};

describe("a file checked against its contract", () => {
  test("a task contract in YAML is recognised by its file name", () => {
    expect(check(TASK, "repo/tasks/T-001.yaml")).toMatchObject({ ok: true, schema: "TaskContract.v1" });
  });

  test("a schema comment names the contract", () => {
    const text = `# yaml-language-server: $schema=../contracts/schemas/TaskContract.v1.json\n${TASK}`;
    expect(check(text, "anything.yml")).toMatchObject({ ok: true, schema: "TaskContract.v1" });
  });

  test("its keys identify the contract if nothing else does", () => {
    expect(check('{"goal":"x","inputs":{},"constraints":{}}', "x.json")).toMatchObject({
      ok: true,
      schema: "Intent.v0",
    });
    expect(check("router_contract:\n  status: DONE\n")).toMatchObject({
      ok: false,
      schema: "RouterContract.v0",
    });
    expect(first(check("a: 1\n"))?.message).toMatch(/cannot tell which contract/);
  });

  test("an antiphon.yaml of comments says nothing, while another file of comments stays refused", () => {
    expect(check("# checks:\n#   - make test\n", "antiphon.yaml")).toMatchObject({ ok: true, value: {} });
    expect(check("# a policy\n", "policy.yaml")).toMatchObject({ ok: false });
  });

  test("a text that cannot be read still has the contract of its file name", () => {
    for (const text of ["", "check:\tx\n\ty: 1\n", 'check: "x\n', "check: x\ncheck: y\n"])
      expect(check(text, "antiphon.yaml")).toMatchObject({ ok: false, schema: "ProjectFile.v1" });
    expect(check("a: [\n", "x.yaml")).toMatchObject({ ok: false, schema: null });
  });

  test("a misspelt key is reported with its line and the intended key", () => {
    const result = check(TASK.replace("objective", "objektive"), "tasks/T-001.yaml");
    expect(first(result)).toMatchObject({
      line: 3,
      column: 1,
      path: "/objektive",
      hint: "did you mean `objective`?",
    });
  });

  test("a wrong value is reported with line, path, expected and found", () => {
    const result = check(TASK.replace("status: open", "status: opne"), "tasks/T-001.yaml");
    expect(first(result)).toMatchObject({
      line: 12,
      path: "/status",
      expected: '"open" | "proposed" | "done" | "failed"',
      found: '"opne"',
      hint: "did you mean `open`?",
    });
  });

  test("a missing key points at the map it is missing from", () => {
    const result = check(TASK.replace("  allowed_tools: []\n", ""), "tasks/T-001.yaml");
    expect(first(result)).toMatchObject({
      line: 4,
      path: "/scope/allowed_tools",
      message: "`allowed_tools` is missing",
    });
  });

  test("JSON errors have lines too, with or without tabs", () => {
    const text = '{\n\t"goal": "x",\n\t"inputs": {},\n\t"constraints": []\n}';
    expect(first(check(text, "intent.json", "Intent"))).toMatchObject({ line: 4, path: "/constraints" });
  });

  test("an unknown contract is refused with the nearest name", () => {
    expect(first(check(TASK, "x.yaml", "DirectorTasks"))?.message).toMatch(/did you mean DirectorTask\?/);
  });
});

describe("hostile files", () => {
  test("a duplicate key is found among tens of thousands", () => {
    const keys = Array.from({ length: 40_000 }, (_, i) => `k${i}: 1\n`).join("");
    const error = first(check(`${keys}k7: 2\n`, "antiphon.yaml", "ProjectFile"));
    expect(error).toMatchObject({ line: 40_001, message: "Map keys must be unique" });
  });

  const cases: readonly [string, string, RegExp][] = [
    ["an empty file", "  \n", /empty/],
    ["a file that is too large", `goal: ${"x".repeat(1_100_000)}`, /too large/],
    ["Q1 deep brackets", `{"goal":${"[".repeat(10_000)}${"]".repeat(10_000)}}`, /nested too deeply/],
    ["deep block lists", "- ".repeat(10_000), /nested too deeply/],
    ["deep flow maps in YAML", `a: ${"{a: ".repeat(10_000)}`, /./],
    // Four kilobytes of this ended the process: V8 compiles a regular expression with no stack left.
    ["deep explicit keys", "? ".repeat(10_000), /nested too deeply/],
    ["deep flow lists in YAML", `a: ${"[".repeat(10_000)}`, /nested too deeply/],
    ["Q1 an alias", "a: &x [1]\nb: *x\n", /aliases are not allowed/],
    [
      "an alias bomb",
      `a: &a [x,x]\n${"bcdefgh"
        .split("")
        .map((c, i) => `${c}: &${c} [*${"abcdefgh"[i]},*${"abcdefgh"[i]}]`)
        .join("\n")}\n`,
      /aliases are not allowed/,
    ],
    ["a merge key", "a: 1\n<<: {b: 2}\n", /merge keys are not allowed/],
    ["a merge key with an alias", "x: &x {a: 1}\ny:\n  <<: *x\n", /not allowed/],
    ["Q1 a tag", "goal: !!js/function 'x'\n", /tag/i],
    ["a second document", "a: 1\n---\nb: 2\n", /multiple documents/i],
    ["a duplicate key in YAML", "goal: a\ngoal: b\n", /unique/],
    ["a duplicate key in JSON", '{"goal":"a","goal":"b"}', /unique/],
    ["a list as a key", "? [a, b]\n: 1\n", /plain text/],
    ["not a number", "goal: .nan\ninputs: {}\nconstraints: {}\n", /NaN/],
    ["a prototype key", '{"goal":"x","inputs":{"__proto__":{}},"constraints":{}}', /__proto__/],
    ["a lone surrogate", '{"goal":"\\ud800","inputs":{},"constraints":{}}', /surrogate/],
    ["broken JSON", '{"goal": ', /./],
    ["broken YAML", "goal: 'x\n", /./],
  ];
  for (const [name, text, message] of cases) {
    test(`contracts/C2: ${name} gives one error with a line, and quickly`, () => {
      const started = performance.now();
      const error = first(check(text, text.startsWith("{") ? "x.json" : "x.yaml", "Intent"));
      expect(error?.message).toMatch(message);
      expect(error?.line).toBeGreaterThan(0);
      expect(performance.now() - started).toBeLessThan(5000);
    });
  }
});
