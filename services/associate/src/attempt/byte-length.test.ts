import { expect, test } from "vitest";
import { bytesOf, withinBytes } from "./byte-length.ts";

test("a text is cut to bytes, and no character of it in half", () => {
  expect(withinBytes("abc", 3)).toBe("abc");
  expect(withinBytes("abc", 2)).toBe("ab");
  expect(withinBytes("日本語", 9)).toBe("日本語");
  expect(withinBytes("日本語", 8)).toBe("日本");
  expect(withinBytes("a😀b", 5)).toBe("a😀");
  expect(withinBytes("a😀b", 4)).toBe("a");
  expect(withinBytes("a", 0)).toBe("");
  expect(bytesOf("a😀日")).toBe(8);
});
