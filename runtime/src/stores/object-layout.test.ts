import { describe, expect, it } from "vitest";
import { digestFromMeta, digestToMeta, metaDocument, metaSubject, parseMeta } from "./object-layout.ts";

describe("the object layout", () => {
  it("is that of the standard store: padded digests, encoded names", () => {
    expect(metaSubject("B", "a name/ä?")).toBe("$O.B.M.YSBuYW1lL8OkPw==");
    expect(digestToMeta(`sha256-${"x".repeat(43)}`)).toBe(`SHA-256=${"x".repeat(43)}=`);
    expect(digestFromMeta(digestToMeta(`sha256-${"y".repeat(43)}`))).toBe(`sha256-${"y".repeat(43)}`);
  });

  it("refuses links, and a nuid that would match other chunks", () => {
    const meta = { name: "n", nuid: "abc", size: 3, chunks: 1, digest: "SHA-256=x" };
    expect(parseMeta("B", "n", metaDocument("B", meta, new Date(0)))).toEqual({ ...meta, deleted: false });
    const link = JSON.stringify({ ...meta, options: { link: { bucket: "OTHER" } } });
    expect(() => parseMeta("B", "n", link)).toThrow(expect.objectContaining({ code: "ANT_BLOB_MISSING" }));
    const wide = JSON.stringify({ ...meta, nuid: "*" });
    expect(() => parseMeta("B", "n", wide)).toThrow(expect.objectContaining({ code: "ANT_BLOB_CORRUPT" }));
  });
});
