/** A source that answers otherwise where it is tested does not land, in real sandboxes; one that depends on its place by right does. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { projectOfTest } from "./support/project-of-test.ts";
import { startStack, type Stack } from "./support/stack.ts";

interface Summary {
  runId: string;
  status: string;
  tasks: { verdict: string; code: string | null; message: string }[];
}

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

const REPOSITORY = {
  "package.json": '{"scripts":{"test":"node --test"}}\n',
  "add.js": "exports.add = (a, b) => a - b;\n",
  "add.test.js":
    "const { equal } = require('node:assert');\nconst { add } = require('./add.js');\nrequire('node:test')('sum', () => equal(add(1, 2), 3));\n",
};

/** What `npm test` starts; npm itself costs twice as much, and a run tries its check ten times. */
const CHECK = "node --test";

async function changed(
  text: string,
  files: Record<string, string> = {},
  { check = CHECK, words = [] }: { check?: string; words?: readonly string[] } = {},
) {
  const repo = projectOfTest({ ...REPOSITORY, ...files });
  const encoded = Buffer.from(text).toString("base64");
  const { document } = await stack.json<Summary>([
    ...["run", "Fix the broken add", "--repo", repo.path, "--workflow", "DEBUG", "--attempts", "1"],
    ...["--command", `echo ${encoded} | base64 -d > add.js`, "--check", check],
    ...words,
  ]);
  return { document, landed: repo.landed(document.runId) };
}

const answering = (condition: string): string => `exports.add = (a, b) => (${condition} ? a + b : a - b);\n`;

test.each([
  [
    "its directory, as npm test finds",
    answering('process.cwd().startsWith("/workspace")'),
    "asks whether it runs in a sandbox",
    "npm test",
  ],
  ["a test beside it", answering('require("fs").existsSync("/workspace/add.test.js")'), "looks for a test"],
  ["a date", answering("Date.now() < 4890000000000"), "compares the clock with a date that is still to come"],
  ["its arguments", answering('process.argv.join(" ").includes("test")'), "asks whether a test runs it"],
  [
    "its directory, under a name that is put together",
    `const here = process["c" + "wd"]();\n${answering('here.startsWith(["", "work"].join("/") + "space")')}`,
    "fails in another directory",
  ],
  [
    "what its shell remembers of another directory",
    `const all = [process["c" + "wd"](), process.env["OLD" + "PWD"]];\n${answering('all.includes(["", "work"].join("/") + "space")')}`,
    "fails in another directory",
  ],
  [
    "a variable of continuous integration that no sandbox has",
    answering("process.env.CI === undefined"),
    "fails where variables such as CI are set",
  ],
])("a source that answers by %s does not land", async (_, text, why, check = CHECK) => {
  const { document, landed } = await changed(text, {}, { check });
  expect(document).toMatchObject({
    status: "failed",
    tasks: [{ verdict: "UNVERIFIABLE", code: "ANT_VERIFY_TEST_AWARE" }],
  });
  expect(document.tasks[0]?.message).toContain(why);
  expect(landed).toEqual([]);
});

test("a source that answers by a variable does not land in a prepared environment either, where its tree is not moved", async () => {
  const setup = ["--setup", "mkdir -p node_modules && touch node_modules/made"];
  const { document, landed } = await changed(answering("process.env.CI === undefined"), {}, { words: setup });
  expect(document.tasks, JSON.stringify(document)).toMatchObject([{ code: "ANT_VERIFY_TEST_AWARE" }]);
  expect(document.tasks[0]?.message).toContain(`${CHECK} passes at /workspace and fails where variables`);
  expect(landed).toEqual([]);
});

test.each([
  [
    "reads its directory",
    "const root = process.cwd();\nexports.place = () => root;\nexports.add = (a, b) => a + b;\n",
    {},
  ],
  [
    "belongs to a project whose tests depend on their place",
    "const fs = require('node:fs');\nexports.read = (name) => fs.readFileSync(name, 'utf8');\nexports.add = (a, b) => a + b;\n",
    {
      "place.test.js":
        "require('node:test')('place', () => require('node:assert').equal(process.cwd(), '/workspace'));\n",
    },
  ],
  [
    "reads a variable and belongs to a project whose tests cannot pass in continuous integration",
    "exports.isLoud = process.env.LOUD === '1';\nexports.add = (a, b) => a + b;\n",
    {
      "ci.test.js":
        "require('node:test')('by hand', () => require('node:assert').equal(process.env.CI, undefined));\n",
    },
  ],
])("a source that %s lands", async (_, text, files) => {
  const { document, landed } = await changed(text, files);
  expect(document, JSON.stringify(document.tasks)).toMatchObject({ status: "succeeded" });
  expect(landed).toHaveLength(1);
});
