import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OutputBound, utf8Tail } from "./output-bound.ts";

describe("bounded output", () => {
  it("keeps everything that fits", () => {
    const output = new OutputBound(10);
    output.push(Buffer.from("0123"));
    output.push(Buffer.from("456789"));
    expect(output.finish()).toMatchObject({ produced: 10, truncated: false, tail: "0123456789" });
  });

  it("sandbox-runner/S10: keeps the head and the tail of any stream in any pieces, and counts every byte", () => {
    const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 30 });
    fc.assert(
      fc.property(pieces, fc.integer({ min: 0, max: 64 }), (sent, keep) => {
        const output = new OutputBound(keep);
        for (const piece of sent) output.push(Buffer.from(piece));
        const whole = Buffer.concat(sent.map((piece) => Buffer.from(piece)));
        const { bytes, produced, truncated } = output.finish();
        expect(produced).toBe(whole.length);
        expect(truncated).toBe(whole.length > keep);
        if (!truncated) {
          expect(bytes.equals(whole)).toBe(true);
          return;
        }
        const head = Math.floor(keep / 2);
        const tail = keep - head;
        expect(bytes.subarray(0, head).equals(whole.subarray(0, head))).toBe(true);
        expect(bytes.subarray(bytes.length - tail).equals(whole.subarray(whole.length - tail))).toBe(true);
        expect(bytes.toString("latin1")).toContain(`[... ${whole.length - keep} bytes not kept ...]`);
      }),
    );
  });

  it("cuts a report at a character, not inside one", () => {
    expect(utf8Tail(Buffer.from("aé€"), 4)).toBe("€");
    expect(utf8Tail(Buffer.from("aé€"), 3)).toBe("€");
    expect(utf8Tail(Buffer.from("aé€"), 2)).toBe("");
  });
});
