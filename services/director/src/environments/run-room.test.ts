import { expect, test } from "vitest";
import { imageOf, lackedBy } from "./run-room.ts";

const options = {
  image_lacks: ["make"],
  task_image_lacks: { "team/small:1": ["make", "go"], default: ["go"] },
};

test("an image lacks what the gateway has found for it: the run's own, or one that a task names", () => {
  expect(lackedBy(null, options)).toEqual(["make"]);
  expect(lackedBy("default", options)).toEqual(["make"]);
  expect(lackedBy("team/small:1", options)).toEqual(["make", "go"]);
  expect(lackedBy("team/other:1", options)).toBeUndefined();
  const ofRun = { ...options, image: "team/dev:1" };
  expect(lackedBy(imageOf({}, ofRun), ofRun)).toEqual(["make"]);
  expect(lackedBy(imageOf({ image: "default" }, ofRun), ofRun)).toEqual(["go"]);
});
