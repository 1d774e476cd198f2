import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  EngineDemux,
  FrameDecoder,
  FrameError,
  MAX_FRAME_BYTES,
  encodeFrame,
  encodeStdin,
} from "./frames.ts";

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return [...pieces, bytes.subarray(at)];
}

describe("frames", () => {
  it("are decoded whole wherever the stream is cut", () => {
    const letters = fc.constantFrom("h", "o", "e", "x", "f");
    const frames = fc.array(fc.tuple(letters, fc.uint8Array({ maxLength: 300 })), { maxLength: 8 });
    fc.assert(
      fc.property(frames, fc.array(fc.integer({ min: 0, max: 90 })), (sent, sizes) => {
        const bytes = Buffer.concat(sent.map(([type, payload]) => encodeFrame(type, Buffer.from(payload))));
        const decoder = new FrameDecoder();
        const got = cut(bytes, sizes).flatMap((piece) => decoder.push(Buffer.from(piece)));
        expect(got.map(({ type, payload }) => [type, [...payload]])).toEqual(
          sent.map(([type, payload]) => [type, [...payload]]),
        );
      }),
    );
  });

  it.each([
    ["no frame at all", "hello, world"],
    ["a negative length", "o -00000001\n"],
    ["a length over the bound", `o ${String(MAX_FRAME_BYTES + 1).padStart(9, "0")}\n`],
    ["no space", "oo000000001\n"],
    ["no line end", "o 000000001 "],
  ])("sandbox-runner/S10: %s ends the session", (_name, text) => {
    expect(() => new FrameDecoder().push(Buffer.from(text))).toThrow(FrameError);
  });

  it("cuts stdin into pieces", () => {
    const frames = new FrameDecoder().push(Buffer.concat([...encodeStdin(Buffer.alloc(150), 64)]));
    expect(frames.map(({ type, payload }) => [type, payload.length])).toEqual([
      ["I", 64],
      ["I", 64],
      ["I", 22],
    ]);
  });
});

describe("the engine's multiplexing", () => {
  const chunk = (stream: number, text: string): Buffer => {
    const head = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0]);
    head.writeUInt32BE(text.length, 4);
    return Buffer.concat([head, Buffer.from(text)]);
  };

  it("separates stdout from stderr wherever the stream is cut", () => {
    const bytes = Buffer.concat([chunk(1, "one"), chunk(2, "two"), chunk(1, ""), chunk(1, "three")]);
    for (let size = 1; size <= bytes.length; size += 1) {
      const demux = new EngineDemux();
      const got = { stdout: "", stderr: "" };
      for (let at = 0; at < bytes.length; at += size) {
        for (const piece of demux.push(bytes.subarray(at, at + size)))
          got[piece.stream] += String(piece.bytes);
      }
      expect(got).toEqual({ stdout: "onethree", stderr: "two" });
    }
  });

  it("refuses a stream that is neither stdout nor stderr", () => {
    expect(() => new EngineDemux().push(chunk(7, "x"))).toThrow(FrameError);
  });
});
