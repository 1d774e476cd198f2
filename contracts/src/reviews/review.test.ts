import { describe, expect, test } from "vitest";
import { validateSkillResult } from "../validation/skill-check.ts";
import { SKILLS } from "../seeds/skill-result.ts";
import type { Finding } from "./findings.ts";
import { reviewMarkdown, reviewOf, reviewResult, reviewSentence } from "./review.ts";

const TEXT = "one\ntwo\r\nthree\ntwo\nend";
const texts = new Map([["a.txt", TEXT]]);
const finding = (more: Partial<Finding> = {}): Finding => ({
  ...{ severity: "warning", file: "a.txt", line: 1, quote: "two", why: "It is even." },
  ...more,
});
const linesOf = (...findings: Finding[]) => reviewOf(findings, texts).findings.map(({ line }) => line);

describe("a finding", () => {
  test("is kept with the line where its quote is, the nearest one if there are several", () => {
    expect([1, 2, 3, 4, 99].map((line) => linesOf(finding({ line }))[0])).toEqual([2, 2, 2, 4, 4]);
  });

  test("may quote several lines, with either line end and with space around them", () => {
    expect(linesOf(finding({ quote: "  two\r\nthree\n" }), finding({ quote: "two\nthree" }))).toEqual([2, 2]);
  });

  test("may quote a line that the change removed, also of a file that it removed", () => {
    const before = new Map([
      ["a.txt", "zero\nold\ntwo"],
      ["gone.txt", "check(user)"],
    ]);
    const all = [
      finding({ quote: "old" }),
      finding({ file: "gone.txt", quote: "check(user)" }),
      finding({ quote: "new" }),
    ];
    const { findings, dropped } = reviewOf(all, texts, before);
    expect(findings.map(({ file, line }) => [file, line])).toEqual([
      ["a.txt", 2],
      ["gone.txt", 1],
    ]);
    expect(dropped.map(({ reason }) => reason)).toEqual(["the quote is not in the file"]);
  });

  test.each([
    ["a file that is not there", { file: "b.txt" }, "there is no such text file"],
    ["a quote that is not there", { quote: "four" }, "the quote is not in the file"],
    ["a quote of spaces", { quote: " \n " }, "the quote is not in the file"],
  ])("with %s is dropped", (_name, more, reason) => {
    const review = reviewOf([finding(more)], texts);
    expect(review.findings).toEqual([]);
    expect(review.dropped).toEqual([{ finding: finding(more), reason }]);
  });

  test("comes in the order of its weight, file and line", () => {
    const given = [
      finding({ severity: "info" }),
      finding({ line: 4 }),
      finding(),
      finding({ severity: "error" }),
    ];
    const { findings } = reviewOf(given, texts);
    expect(findings.map(({ severity, line }) => [severity, line])).toEqual([
      ["error", 2],
      ["warning", 2],
      ["warning", 4],
      ["info", 2],
    ]);
  });
});

describe("a review", () => {
  const about = { runId: "run_1", taskId: "T-001", goal: "Review", commit: "a".repeat(40) };
  const review = reviewOf(
    [finding(), finding({ severity: "error", suggestion: "Use three." }), finding({ quote: "no" })],
    texts,
  );

  test("is a valid result of the skill, and rejects only for an error", () => {
    const result = reviewResult(review, about);
    expect(validateSkillResult(result, SKILLS.reviewer)).toMatchObject({ ok: true });
    expect(result.pairs[0]?.output).toMatchObject({ decision: "reject" });
    expect(reviewResult(reviewOf([finding()], texts), about).pairs[0]?.output).toMatchObject({
      decision: "accept",
    });
  });

  test("says what was found and dropped", () => {
    expect(reviewSentence(review)).toBe(
      "2 findings (1 error, 1 warning); 1 dropped, because its quote is not in the tree",
    );
    expect(reviewSentence({ findings: [], dropped: [] })).toBe("no findings");
  });

  test("as Markdown shows texts of the reviewer as texts, whatever they hold", () => {
    const quote = "```\n# evil\n```";
    const hostile = reviewOf([finding({ quote, why: "<img src=x> [a](b)" })], new Map([["a.txt", quote]]));
    const text = reviewMarkdown(hostile, "# Goal\n## Second");
    expect(text).toContain("````\n```\n# evil\n```\n````");
    expect(text).toContain("\\<img src=x\\> \\[a\\](b)");
    expect(text.split("\n", 1)[0]).toBe("# Review: \\# Goal \\#\\# Second");
  });
});
