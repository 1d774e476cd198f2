import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodePath, encodePath, isUtf8Path, quotePath, unquotePath } from "./git-path.ts";

describe("a path", () => {
  it("survives the conversion from bytes to text and back, whatever its bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        expect(encodePath(decodePath(Buffer.from(bytes)))).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it("says whether it is UTF-8", () => {
    expect(isUtf8Path("日本😀")).toBe(true);
    expect(isUtf8Path(decodePath(Buffer.from([0x63, 0xe9])))).toBe(false);
  });

  it("survives git's quoting", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 30 }), (path) => {
        const quoted = quotePath(path);
        if (!quoted.startsWith('"')) expect(quoted).toBe(path);
        else expect(unquotePath(`${quoted} rest`)).toEqual({ path, rest: " rest" });
      }),
    );
  });

  it.each(['"open', '"bad \\q"', '"\\4"', '"\\400"', "plain", '"\\'])(
    "is refused when misquoted: %s",
    (text) => {
      expect(unquotePath(text)).toBeNull();
    },
  );
});
