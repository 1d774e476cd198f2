import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scrubbed, Scrubber } from "./scrubber.ts";

describe("a scrubber", () => {
  it("egress-gateway/E2: masks every secret, however the stream is cut, and changes nothing else", () => {
    const piece = fc.oneof(
      fc.constantFrom("secret-1", "s3cr3t", "sec", "ret-1", "s"),
      fc.string({ maxLength: 6 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 9 }), (pieces, size) => {
        const bytes = Buffer.from(pieces.join(""), "utf8");
        const scrubber = new Scrubber(["secret-1", "s3cr3t"]);
        const out: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += size)
          out.push(Buffer.from(scrubber.push(bytes.subarray(at, at + size))));
        out.push(scrubber.end());
        return (
          Buffer.concat(out).toString("utf8") === scrubbed(bytes.toString("utf8"), ["secret-1", "s3cr3t"])
        );
      }),
      { numRuns: 2000 },
    );
  });

  it("holds back only bytes that could begin a secret", () => {
    const scrubber = new Scrubber(["secret"]);
    expect(scrubber.push(Buffer.from("data: x\n\n")).toString()).toBe("data: x\n\n");
    expect(scrubber.push(Buffer.from("a sec")).toString()).toBe("a ");
    expect(scrubber.push(Buffer.from("ond")).toString()).toBe("second");
  });
});
