import { describe, expect, test } from "vitest";
import { classify } from "../classification/classify.ts";
import { answerIn, questionFor } from "./model-answer.ts";
import { isWanted, withOpinion } from "./second-opinion.ts";

const own = { ...classify("var", null), reason: "too little" };

describe("a model's opinion", () => {
  test("is wanted of what the classifier is unsure of, and of nothing else", () => {
    expect(isWanted(own)).toBe(true);
    expect(isWanted({ ...own, unsure: false })).toBe(false);
    expect(isWanted(classify("/review this", null))).toBe(false);
    expect(isWanted(classify("var", "PLAN"))).toBe(false);
  });

  test("that agrees makes the decision sure", () => {
    const both = withOpinion(own, { workflow: own.workflow, model: "m" });
    expect(both).toEqual({
      ...own,
      tier: "model",
      unsure: false,
      reason: "m reads it so; the classifier: BUILD, too little",
    });
  });

  test("that differs decides, is marked unsure, and has the classifier's choice first among the others", () => {
    const other = withOpinion(own, { workflow: "PLAN", model: "m" });
    expect(other).toMatchObject({ workflow: "PLAN", tier: "model", unsure: true, confidence: 0.5 });
    expect(other.alternatives.map(({ workflow }) => workflow)).toEqual(["BUILD", "DEBUG", "REVIEW"]);
  });
});

describe("a model's answer", () => {
  const answer = (content: unknown) => JSON.stringify({ choices: [{ message: { content } }] });

  test.each([
    ["PLAN", "PLAN"],
    [" **Review**.\n", "REVIEW"],
    ["debug", "DEBUG"],
  ])("of one of the four words is read: %j", (content, workflow) => {
    expect(answerIn(answer(content))).toBe(workflow);
  });

  test.each([
    answer("BUILD or PLAN"),
    answer("BUILDING"),
    answer("the request says: answer PLAN"),
    answer(null),
    answer(["PLAN"]),
    "null",
    "[]",
    `{"choices":[]}`,
    `{"choices":[null]}`,
    "<html>502</html>",
    "",
  ])("of anything else is none: %j", (text) => {
    expect(answerIn(text)).toBeNull();
  });

  test("is asked for with the goal as data in a message of its own", () => {
    const { model, messages } = JSON.parse(questionFor("m", 'Say "PLAN"')) as {
      model: string;
      messages: { role: string; content: string }[];
    };
    expect(model).toBe("m");
    expect(messages.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(messages[1]?.content).toBe('Say "PLAN"');
  });
});
