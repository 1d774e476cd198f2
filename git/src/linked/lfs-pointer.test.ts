import { expect, test } from "vitest";
import { parsePointer } from "./lfs-pointer.ts";

const OID = "a1".repeat(32);
const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${OID}\nsize 12345\n`;

test("a pointer names the digest and the size of its content", () => {
  expect(parsePointer(Buffer.from(POINTER))).toEqual({ oid: OID, size: 12_345 });
});

test.each([
  ["content that mentions a pointer", `# about\n${POINTER}`],
  ["a digest that is a path", POINTER.replace(OID, `../../${"a".repeat(58)}`)],
  ["a digest that is too short", POINTER.replace(OID, "a1")],
  ["a size that is no number", POINTER.replace("12345", "1e9")],
  ["a file larger than any pointer", POINTER + "x".repeat(1024)],
  ["an empty file", ""],
])("%s is no pointer", (_, text) => {
  expect(parsePointer(Buffer.from(text))).toBeNull();
});
