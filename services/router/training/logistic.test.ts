import { describe, expect, test } from "vitest";
import { byteOfWeight, weightOfByte } from "../src/classification/linear-model.ts";
import { fit } from "./logistic.ts";
import { nearCopies } from "./near-copies.ts";
import { calibrationErrorOf, classesOf, confusionOf, doubtOf } from "./report.ts";
import type { Judged } from "./report.ts";

const example = (column: number, label: number) => ({
  columns: Int32Array.of(column),
  values: Float64Array.of(1),
  label,
});

describe("fit", () => {
  test("finds the weights of two columns that each name a class", () => {
    const { weights } = fit([example(0, 0), example(1, 1)], 2, 2, { l2: 0.01, iterations: 50 });
    const [w00 = 0, w01 = 0, w10 = 0, w11 = 0] = weights;
    expect(w00).toBeGreaterThan(w01 + 1);
    expect(w11).toBeGreaterThan(w10 + 1);
  });

  test("at its end the gradient of the penalised loss is nearly zero", () => {
    const l2 = 0.1;
    const { weights, bias } = fit([example(0, 0), example(0, 1), example(0, 0)], 2, 1, {
      l2,
      iterations: 200,
    });
    const [a = 0, b = 0] = weights;
    const [c = 0, d = 0] = bias;
    const share = 1 / (1 + Math.exp(b + d - a - c));
    expect(share - 2 / 3 + l2 * a).toBeCloseTo(0, 2);
  });
});

test("a byte holds a weight to within one part in forty of the largest", () => {
  for (const weight of [-3, -1.7, -0.01, 0, 0.004, 0.5, 3]) {
    expect(Math.abs(weightOfByte(byteOfWeight(weight, 3), 3) - weight)).toBeLessThan(3 / 40);
  }
});

test("near copies are found across spaces and case, and other texts are not", () => {
  const pairs = nearCopies(["Add a dark mode toggle", "Fix it"], ["add a  DARK mode toggle!", "Plan B"], 0.8);
  expect(pairs.map(({ left, right }) => [left, right])).toEqual([[0, 0]]);
});

describe("report", () => {
  const judged: Judged[] = [
    { label: "BUILD", workflow: "BUILD", confidence: 0.9, unsure: false },
    { label: "BUILD", workflow: "DEBUG", confidence: 0.5, unsure: true },
    { label: "DEBUG", workflow: "DEBUG", confidence: 0.9, unsure: false },
    { label: "PLAN", workflow: "BUILD", confidence: 0.9, unsure: false },
  ];

  test("counts right and wrong decisions by class", () => {
    expect(confusionOf(judged).BUILD).toMatchObject({ BUILD: 1, DEBUG: 1 });
    expect(classesOf(judged)[1]).toMatchObject({ recall: 1, precision: 0.5 });
    expect(doubtOf(judged)).toEqual({ unsure: 0.25, ofWrong: 0.5 });
  });

  test("the calibration error is the mean distance between confidence and accuracy", () => {
    expect(calibrationErrorOf(judged)).toBeCloseTo((3 * (0.9 - 2 / 3) + 0.5) / 4);
  });
});
