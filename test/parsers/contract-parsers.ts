/** Parsers of `contracts` and of the Router: documents, messages, goals. */
import {
  canonicalJson,
  decode,
  durationMs,
  encode,
  readPlanText,
  reviewMarkdown,
  reviewOf,
  looksLikeUrl,
  repositoryUrl,
  isPinnedInstall,
  missingProgram,
  packAgent,
  validate,
  validateDocument,
} from "@antiphon/contracts";
import { splitDiff } from "@antiphon/contracts/documents/unified-diff";
import { unsafePath } from "../../contracts/src/rules/paths.ts";
import { answerIn } from "../../services/router/src/opinion/model-answer.ts";
import { route } from "../../services/router/src/planning/route.ts";
import { inWriteOrder } from "../../services/router/src/planning/write-order.ts";
import type { IntentBody } from "@antiphon/contracts";
import type { Parser } from "./growth.ts";
import { nested, numbered, repeated } from "./shapes.ts";

const BRACKETS = [
  ["[", "]"],
  ["{", "}"],
  ['{"a":', "}"],
  ["[{a: ", "}]"],
] as const;

const YAML_SHAPES = [
  ...repeated(["- ", "a: ", "? ", "&a ", "# c\n", '"', "|\n", "\n", " "]),
  ...repeated(["*a ", "!!str ", "'", "\t", ","]),
  ...nested([...BRACKETS, ["- ", ""], ["a:\n ", ""]]),
  numbered("keys", (i) => `k${i}: 1\n`),
  numbered(
    "JSON keys",
    (i) => `"k${i}":1,`,
    (body) => `{${body}"z":1}`,
  ),
  numbered("deeper and deeper", (i) => `${" ".repeat(i % 500)}k${i}:\n`),
  numbered("flow in a block", (i) => `k${i}: [${"[".repeat(i % 50)}`),
  numbered("anchors", (i) => `- &a${i} x\n`),
];

export const intentWith = (goal: string): IntentBody => ({
  intentId: "it_a",
  principal: "local",
  intent: { goal, inputs: {}, constraints: {} },
  options: {
    repo: { name: "r", path: "/r" },
    agent: { kind: "command", argv: ["x"] },
    checks: [],
    grants: [],
    scope: [],
    max_attempts: 3,
    time_budget_s: 300,
    allow_unverified: false,
    allow_unproven: false,
    allow_dirty: false,
  },
  base: { repo: { name: "r", path: "/r" }, ref: "refs/heads/main", commit: "0".repeat(40) },
});

const WORDS = [
  ...'\n| |\t|a|at |at (a:1:1|File "|expected |plan |please |now, |make |review |add |fix |error |when |handle a |is this |no |-'.split(
    "|",
  ),
  "returned a ",
  "write a b c ",
  "look for a b ",
  "resolve the a ",
  "aError",
  "(/\\",
  "修复",
  "does not wor",
];

export const contractParsers: readonly Parser[] = [
  {
    name: "a project file (antiphon.yaml)",
    reads: [
      "contracts/src/documents/document-text.ts",
      "contracts/src/documents/document.ts",
      "contracts/src/documents/document-kind.ts",
    ],
    shapes: YAML_SHAPES,
    run: (text) => validateDocument(text, { filename: "antiphon.yaml", schema: "ProjectFile" }),
  },
  {
    name: "a command that installs an agent",
    reads: ["contracts/src/runs/pack-agent.ts"],
    shapes: repeated(["a", "@", "1.", "a@1 ", "@a/", "-", "==1", "[b]", "'"]),
    run: (text) => {
      const { install } = packAgent({
        name: "a",
        argv: ["a"],
        prompt: "stdin",
        install: { npm: [text], pip: [text] },
      });
      return install.map(isPinnedInstall);
    },
  },
  {
    name: "a check and what its shell says",
    reads: ["contracts/src/runs/check-program.ts"],
    shapes: repeated([
      ...["a", "a ", ": not found", "a: not found\n", "a: ", "\n", " "],
      ...["A= ", "python", "a/", "python -m ", " -m pytest", " -B", "python: No module named pytest"],
    ]),
    run: (text) => [
      missingProgram(text, 127, text),
      missingProgram(`python -m pytest ${text}`, 1, text),
      missingProgram(text, 1, "python: No module named pytest"),
    ],
  },
  {
    name: "a JSON document",
    reads: ["contracts/src/documents/document-text.ts"],
    shapes: [
      ...repeated(['"', "\\\\", "\n", " ", "[],"]),
      ...nested(BRACKETS),
      numbered(
        "keys",
        (i) => `"k${i}":1,`,
        (body) => `{${body}"z":1}`,
      ),
    ],
    run: (text) => validateDocument(text, { filename: "intent.json", schema: "Intent" }),
  },
  {
    name: "a plan",
    reads: [
      "contracts/src/plans/plan-text.ts",
      "contracts/src/plans/read-plan.ts",
      "contracts/src/plans/criteria.ts",
      "contracts/src/rules/graph.ts",
    ],
    shapes: [
      ...YAML_SHAPES,
      numbered(
        "tasks in a row",
        (i) => `{"id":"n${i}","kind":"io","deps":[${i === 0 ? "" : `"n${i - 1}"`}]},`,
        (body) => `{"nodes":[${body.slice(0, -1)}]}`,
      ),
      ...repeated(["(check: ", "`", "a", "passes "], (criterion) =>
        JSON.stringify({
          tasks: [{ id: 1, description: "d", acceptance_criteria: [criterion.slice(0, 2048)] }],
        }),
      ),
    ],
    run: (text) => readPlanText(text, "plan.yaml"),
  },
  {
    name: "the files of the tasks of a plan",
    reads: ["services/router/src/planning/glob-overlap.ts", "services/router/src/planning/write-order.ts"],
    shapes: repeated(["*", "**/", "a*", "{a,b}", "\\", "/", "?"]),
    largest: 32 * 1024,
    run: (text) => {
      const globs = text.match(/[^]{1,1024}/g) ?? [];
      const tasks = globs.map((glob, i) => ({
        ...{ id: i + 1, description: "d", dependencies: [], allowed_files: [glob] },
      }));
      return inWriteOrder(tasks.slice(0, 256), () => true);
    },
  },
  {
    name: "findings and the file that they quote",
    reads: ["contracts/src/reviews/review.ts", "contracts/src/reviews/markdown-text.ts"],
    shapes: repeated(["\n", "a", "a\r\n", "`", "ab", "<"]),
    largest: 64 * 1024,
    run: (text) => {
      const quotes = ["a", "a\na", "`".repeat(80), `${"a".repeat(200)}b`, text.slice(0, 4096)];
      const findings = quotes.map((quote, line) => ({
        ...{ severity: "info" as const, file: "a", line: line + 1, quote, why: text.slice(0, 4096) },
      }));
      return reviewMarkdown(reviewOf(findings, new Map([["a", text]])), text);
    },
  },
  {
    name: "the answer of a model that routes",
    reads: ["services/router/src/opinion/model-answer.ts"],
    shapes: repeated([`{"choices":[`, `"`, " ", "'*", "PLAN "]),
    run: (text) => [answerIn(text), answerIn(JSON.stringify({ choices: [{ message: { content: text } }] }))],
  },
  {
    name: "a goal, routed",
    reads: [
      "services/router/src/classification/cue-list.ts",
      "services/router/src/classification/explicit.ts",
      "services/router/src/classification/features.ts",
      "services/router/src/classification/reading.ts",
      "services/router/src/classification/shape-signs.ts",
      "services/router/src/classification/word-kinds.ts",
    ],
    shapes: [...repeated(WORDS), ...repeated(["\n", " ", "a", "now "], (body) => `add a plan ${body} when`)],
    largest: 16 * 1024,
    run: (goal) => route(intentWith(goal)),
  },
  {
    name: "a unified diff, split into files",
    reads: ["contracts/src/documents/unified-diff.ts"],
    shapes: [
      ...repeated(["\n", "\t", "diff --git a/a b/a\n", '+++ "b/', "\\", "\\1", "@@", " b/"]),
      ...repeated(["\n", "\t", "\\", "a"], (body) => `--- a/x\n+++ "b/${body}"\n@@ -1 +1 @@\n${body}`),
      ...repeated(["\n", "\t", " b/"], (body) => `diff --git a/x b/x\n--- a/x\n+++ b/x${body}\u2028\n`),
    ],
    run: splitDiff,
  },
  {
    name: "a patch document, validated",
    reads: [
      "contracts/src/validation/validate.ts",
      "contracts/src/validation/walked-check.ts",
      "contracts/src/validation/intake.ts",
      "contracts/src/rules/paths.ts",
    ],
    shapes: [
      numbered(
        "files",
        (i) => `{"path":"a${i}","diff":"x"},`,
        (body) => `{"files":[${body.slice(0, -1)}]}`,
      ),
      numbered(
        "strangers",
        (i) => `"k${i}":1,`,
        (body) => `{${body}"files":[]}`,
      ),
      ...repeated([". ", ".", "/", "a/", ":"], (body) =>
        JSON.stringify({ files: [{ path: body, diff: "x" }] }),
      ),
    ],
    run: (text) => validate("Patch", JSON.parse(text)),
  },
  {
    name: "a task contract, validated",
    reads: ["contracts/src/rules/own.ts", "contracts/src/rules/graph.ts"],
    shapes: [
      numbered(
        "dependencies",
        (i) => `"T-${i}",`,
        (body) => `{"id":"T-x","depends_on":[${body}"T-y"]}`,
      ),
    ],
    run: (text) => {
      const given = JSON.parse(text) as object;
      const contract = { schema_version: 1, title: "t", goal: "g", acceptance_criteria: ["c"], ...given };
      return validate("TaskContract", contract);
    },
  },
  {
    name: "a plan, validated",
    reads: ["contracts/src/rules/graph.ts"],
    shapes: [
      numbered(
        "a chain",
        (i) => `{"id":"n${i}","deps":["n${i + 1}"]},`,
        (body) => `[${body}{"id":"z","deps":[]}]`,
      ),
      numbered(
        "a star",
        (i) => `{"id":"n${i}","deps":["z"]},`,
        (body) => `[${body}{"id":"z","deps":[]}]`,
      ),
    ],
    run: (text) => validate("Plan", { nodes: JSON.parse(text) as unknown }),
  },
  {
    name: "a message of MessagePack",
    reads: ["contracts/src/wire/codec.ts", "contracts/src/wire/key-cache.ts"],
    shapes: [
      ...repeated([
        "\x91",
        "\x81\xa1a",
        "\xdc\xff\xff",
        "\xdd\xff\xff\xff\xff",
        "\xdb\x00\x00\xff\xff",
        "\xc0",
      ]),
      numbered(
        "keys",
        (i) => `\xa4${String(1000 + (i % 9000))}\x01`,
        (body) => `\xdf\x00\x00\xff\xff${body}`,
      ),
    ],
    run: (text) => decode(Buffer.from(text, "latin1")),
  },
  {
    name: "a value, written in its canonical form",
    reads: ["contracts/src/wire/codec.ts"],
    shapes: [
      ...nested([
        ["[", "]"],
        ['{"a":', "}"],
      ]),
      numbered(
        "keys",
        (i) => `"k${i}":1,`,
        (body) => `{${body}"z":1}`,
      ),
    ],
    run: (text) => {
      const value: unknown = JSON.parse(text);
      canonicalJson(value);
      encode(value);
    },
  },
  {
    name: "a duration",
    reads: ["contracts/src/wire/wire-json.ts"],
    shapes: repeated(["P", "1D", "1", "T", "1H", ".", "1.1S"]),
    run: durationMs,
  },
  {
    name: "a path of a document",
    reads: ["contracts/src/rules/paths.ts"],
    shapes: repeated(["/", "a", ". ", ".", ":", "git~1", "\\", "\u200c"]),
    run: (text) => unsafePath(text, { git: true }),
  },
  {
    name: "URLs of repositories",
    reads: ["contracts/src/shapes/repository-url.ts"],
    shapes: repeated(["/", "a", ".", "-", ":", "@", "1", "a.", "a-", "..", "://", "%"]),
    run: (text) => [repositoryUrl(`https://${text}`), repositoryUrl(`ssh://a@b/${text}`), looksLikeUrl(text)],
  },
];
