import { expect, test } from "vitest";
import { olderRelease } from "./older-release.ts";

test("a gateway is older if its release has fewer features, whatever it says of itself", () => {
  expect(["0.1.0", "0.0.9", "1.2.3"].map((one) => olderRelease(one, "1.3.0"))).toEqual([
    "0.1.0",
    "0.0.9",
    "1.2.3",
  ]);
  expect(["1.3.0", "1.3.7", "1.10.0", "2.0.0"].map((one) => olderRelease(one, "1.3.9"))).toEqual(
    Array.from({ length: 4 }, () => null),
  );
  const unknown = [undefined, null, 1, "", "0.0.0-sources", "\u001b[2J0.1.0", "0.1.0\n", "99999.1.0"];
  expect(unknown.map((one) => olderRelease(one, "1.3.0"))).toEqual(unknown.map(() => null));
  expect(olderRelease("0.1.0", "load")).toBeNull();
});
