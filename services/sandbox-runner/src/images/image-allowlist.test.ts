import { expect, test } from "vitest";
import {
  allowanceOf,
  allowlistText,
  isDigestReference,
  parseAllowlist,
  withAllowed,
  withoutAllowed,
  type AllowedImage,
} from "./image-allowlist.ts";

const id = (digit: string): string => `sha256:${digit.repeat(64)}`;
const image = (ref: string, digit: string): AllowedImage => ({
  ref,
  id: id(digit),
  allowedAt: "2026-01-01T00:00:00.000Z",
});
const list = [image("alpine:3", "a"), image("mine", "b")];

test("sandbox-runner/S9: an image is allowed by its digest, under any name", () => {
  expect(allowanceOf(list, "another-name", id("a"))).toEqual({ kind: "allowed" });
  expect(allowanceOf(list, id("b"), id("b"))).toEqual({ kind: "allowed" });
  expect(allowanceOf(list, "other", id("c"))).toEqual({ kind: "unknown" });
});

test("a name on the list that points to other content is not allowed, and the answer says which content was", () => {
  expect(allowanceOf(list, "mine", id("c"))).toEqual({ kind: "moved", allowedId: id("b") });
});

test("text that is not an allowlist is refused", () => {
  for (const text of [
    "",
    "{}",
    "[]",
    "null",
    '{"version":2,"images":[]}',
    '{"version":1,"images":[{"ref":"x"}]}',
  ])
    expect(parseAllowlist(text)).toBeNull();
  expect(parseAllowlist('{"version":1,"images":[{"ref":"x","id":"alpine","allowedAt":""}]}')).toBeNull();
  expect(parseAllowlist(allowlistText([{ ...image("x", "a"), programs: "go" as never }]))).toBeNull();
});

test("a written list reads back unchanged", () => {
  const images = [...list, { ...image("go", "c"), programs: ["go"] }];
  expect(parseAllowlist(allowlistText(images))).toEqual(images);
});

test("a name stands for one image, and is removed with it", () => {
  expect(withAllowed(list, image("mine", "c")).map((one) => one.id)).toEqual([id("a"), id("c")]);
  expect(withoutAllowed(list, "mine")).toEqual([list[0]]);
  expect(withoutAllowed([...list, image("alias", "b")], "mine")).toEqual([list[0]]);
  expect(withoutAllowed(list, id("a"))).toEqual([list[1]]);
});

test("a configured image is named by its digest", () => {
  expect(isDigestReference(id("a"))).toBe(true);
  expect(isDigestReference(`alpine@${id("a")}`)).toBe(true);
  expect(isDigestReference("alpine:3")).toBe(false);
  expect(isDigestReference("sha256:abc")).toBe(false);
});
