import fc from "fast-check";
import { connect } from "node:tls";
import { Duplex } from "node:stream";
import { describe, expect, it } from "vitest";
import { readClientHello } from "./client-hello.ts";
import { EgressRefusal } from "../policy/refusal.ts";

/** The ClientHello that Node's own TLS sends. */
function hello(servername: string): Promise<Buffer> {
  return new Promise((resolve) => {
    const wire = new Duplex({
      read: () => undefined,
      write: (bytes: Buffer, _encoding, done) => {
        resolve(Buffer.from(bytes));
        done();
      },
    });
    connect({ socket: wire, servername }).on("error", () => undefined);
  });
}

describe("a ClientHello", () => {
  it("is read to its one name, and needs more bytes until it is complete", async () => {
    const bytes = await hello("a.example.test");
    expect(readClientHello(bytes)).toEqual({ serverName: "a.example.test", hidesName: false });
    for (let cut = 1; cut < bytes.length; cut += 7)
      expect(readClientHello(bytes.subarray(0, cut))).toBeNull();
  });

  it("is refused with a code when it is damaged or something else", async () => {
    const bytes = await hello("a.example.test");
    const safely = (damaged: Buffer): boolean => {
      try {
        const read = readClientHello(damaged);
        return read === null || typeof read.serverName === "string";
      } catch (error) {
        return error instanceof EgressRefusal;
      }
    };
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(255), (at, value) => {
        const damaged = Buffer.from(bytes);
        damaged[at] = value;
        return safely(damaged);
      }),
      { numRuns: 1000 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (noise) => safely(Buffer.from(noise))),
      { numRuns: 1000 },
    );
    expect(() => readClientHello(Buffer.from("GET / HTTP/1.1\r\n"))).toThrow(EgressRefusal);
  });
});
