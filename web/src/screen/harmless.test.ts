import { expect, it } from "vitest";
import { harmless } from "./harmless.ts";

it.each([
  ["a colour is dropped", "\u001b[31mred\u001b[0m", "red"],
  ["any other escape is shown", "\u001b]0;title\u0007", "\\x1b]0;title\\x07"],
  ["a carriage return that overwrites is shown", "safe\rEVIL", "safe\\x0dEVIL"],
  ["a bidirectional mark is shown", "x\u202egnp", "x\\u202egnp"],
  ["an invisible space is shown", "a\u200bb", "a\\u200bb"],
  ["lines and tabs stay", "a\r\n\tb\n", "a\n\tb\n"],
])("%s", (_, text, shown) => expect(harmless(text)).toBe(shown));
