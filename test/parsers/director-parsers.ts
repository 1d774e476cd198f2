/** Parsers of the Director and of an Associate: reports of checks, and what failed in them. */
import { inertText } from "../../services/director/src/verification/inert-text.ts";
import { backlogFilter, selects } from "../../services/director/src/work-items/backlog-filter.ts";
import { hasNext, issueOf, reasonOf, retryAt } from "../../services/director/src/work-items/issue-answer.ts";
import { projectOf } from "../../services/director/src/work-items/tracker-project.ts";
import { filteredTest } from "../../services/director/src/sessions/test-filter.ts";
import {
  missingNames,
  passedInFiles,
  passedNames,
} from "../../services/director/src/verification/reports/test-names.ts";
import { gapsIn, readTestReport } from "../../services/director/src/verification/reports/test-report.ts";
import { failingSections } from "../../services/associate/src/attempt/failing-sections.ts";
import { failureQuote } from "../../services/associate/src/evidence/failure-quote.ts";
import type { Parser } from "./growth.ts";
import { numbered, repeated } from "./shapes.ts";

/** Numbers do not count in the name of a test. */
const inLetters = (i: number) => String(i).replace(/\d/g, (digit) => "abcdefghij"[Number(digit)] ?? "");

export const directorParsers: readonly Parser[] = [
  {
    name: "the filter of a backlog, and what it selects",
    reads: ["services/director/src/work-items/backlog-filter.ts"],
    shapes: repeated(["a ", "status:a ", "assignee:", ":", " ", "tag:x\t"]),
    run: (text) => {
      const item = { id: "1", title: "a", description: "a b", status: "open", tags: ["x"] };
      return [selects(backlogFilter(text), item), selects(backlogFilter("a"), { ...item, title: text })];
    },
  },
  {
    name: "the URL of a repository as a project of an issue tracker",
    reads: ["services/director/src/work-items/tracker-project.ts"],
    shapes: repeated(["/", "a", ".git", "..", "%2f", "a/"]),
    run: (text) => projectOf(`https://git.example.com/${text}`, new URL("https://git.example.com")),
  },
  {
    name: "answers of an issue tracker",
    reads: ["services/director/src/work-items/issue-answer.ts"],
    shapes: repeated(["a", ",", '<u>; rel="next", ', " ", "1"]),
    run: (text) => [
      hasNext(text),
      retryAt(429, { get: (name) => (name === "retry-after" ? text : null) }, 0),
      issueOf({ number: 1, title: text, labels: text.split(",").map((name) => ({ name })) }),
      reasonOf({ message: text, errors: text.split(",").map((message) => ({ message })) }),
    ],
  },
  {
    name: "a session's check, its filter and its package.json",
    reads: ["services/director/src/sessions/test-filter.ts"],
    shapes: repeated(["pytest ", "cargo test ", " -- ", "a", "'", "/", "$", '{"scripts":']),
    run: (text) => [
      filteredTest(text, text, null),
      filteredTest(`cargo test ${text}`, text, null),
      filteredTest("npm test", text, text),
      filteredTest("npm test", "a", JSON.stringify({ scripts: { test: text } })),
    ],
  },
  {
    name: "an agent's text in a commit message",
    reads: ["services/director/src/verification/inert-text.ts"],
    shapes: repeated([
      "#1",
      "#a",
      "@a",
      "/issues/1",
      "fixes ",
      "fixes A",
      "GH-1",
      " ",
      "/close\n",
      "\n/a",
      "\n\t",
    ]),
    run: inertText,
  },
  {
    name: "names of tests",
    reads: ["services/director/src/verification/reports/test-names.ts"],
    shapes: [
      numbered("tests in words", (i) => `✔ adds ${inLetters(i)} to ${i}\n`),
      numbered("tests of pytest", (i) => `t.py::test_${inLetters(i)}[${i}] PASSED\n`),
      numbered("files of Vitest", (i) => `❯ ${inLetters(i)}.ts (${i} tests | 1 failed)\n✓ ${inLetters(i)}\n`),
      ...repeated(["✓ a", "(1 test", " | 1 failed"]),
      numbered("tests of go", (i) => `--- PASS: Test${inLetters(i)}/part (0.00s)\n`),
      ...repeated(["✔ ", "1", "a ", "a.", "\n", "x::", "ok 1 - a\n", " > ", "\u001b[1m"]),
      ...repeated(["✔ ", "a::b"], (body) => `${body.slice(0, 399)}\n${body}`),
    ],
    run: (text) => {
      const base = passedNames(text);
      return [
        missingNames(base, passedNames(text.replaceAll("a", "z"))),
        missingNames(base, new Map()),
        passedInFiles(text),
      ];
    },
  },
  {
    name: "output of a check",
    reads: [
      "services/director/src/verification/reports/report-forms.ts",
      "services/director/src/verification/reports/test-report.ts",
    ],
    shapes: repeated([
      "a",
      " ",
      "1",
      "1 ",
      "\n",
      "1 passed, ",
      "FAILED (",
      "ok\t",
      "Tests: ",
      "Tests: 1, Assertions: 1, ",
      "\u001b[1m",
      "ok 1 - a.js",
      "Ran 1 test in 1s\n",
    ]),
    run: (text) => gapsIn("c", { report: readTestReport(text), isPassed: true }, readTestReport(text)),
  },
  {
    name: "failing sections of the output of a check",
    reads: ["services/associate/src/attempt/failing-sections.ts"],
    shapes: repeated(["not ok 1\n", "error ", "ok 1\n", "0 failed\n", "\n", "assertionassertion"]),
    run: (text) => failingSections(text, 8192),
  },
  {
    name: "the quote of a failed command",
    reads: ["services/associate/src/evidence/failure-quote.ts"],
    shapes: repeated(["not ok 1\n", "error ", "ok 1\n", "0 failed\n", "\n", "assertionassertion"]),
    run: (text) => failureQuote(text, 600),
  },
];
