import type { Msg } from "@nats-io/nats-core";
import { MsgImpl, headers } from "@nats-io/nats-core/internal";
import { describe, expect, it } from "vitest";
import { headersOf, wireHeaders } from "./wire-headers.ts";

/** As the library's parser makes it: the header bytes come before the payload. */
function received(block: Uint8Array, payload = "payload\r\nA: 2\r\n"): Msg {
  const data = Buffer.concat([block, Buffer.from(payload)]);
  const subject = Buffer.from("a.b");
  const args = { subject, reply: undefined, hdr: block.length, size: data.length, sid: 1 };
  return new MsgImpl(args as unknown as ConstructorParameters<typeof MsgImpl>[0], data, {
    publish: () => undefined,
  }) as Msg;
}

describe("headers on the wire", () => {
  it("are NATS/1.0 lines, and a line break in a value cannot add another one", () => {
    const encoded = (wireHeaders({ A: "1", "B-C": "x y" }) as unknown as { encode(): Buffer }).encode();
    expect(encoded.toString()).toBe("NATS/1.0\r\nA: 1\r\nB-C: x y\r\n\r\n");
    expect(() => wireHeaders({ A: "1\r\nB: 2" })).toThrow(RangeError);
  });

  it("are read as the library reads them, regardless of the payload", () => {
    const sent = headers();
    const names = ["Antiphon-Digest", "Antiphon-Cause", "A", "Antiphon-Dig", "Nats-Sequence"];
    for (const name of names.slice(0, 3)) sent.set(name, `sha256-${name}: 1=`);
    const message = received((sent as unknown as { encode(): Uint8Array }).encode());
    const read = headersOf(message);
    for (const name of names) expect(read(name), name).toBe(message.headers?.get(name) ?? "");
    expect(read("A")).toBe("sha256-A: 1=");
    expect(headersOf(received(new Uint8Array(), "A: 1"))("A")).toBe("");
  });

  it("are read through the library's API from a message the library did not build", () => {
    const own = headers();
    own.set("A", "1");
    expect(headersOf({ headers: own } as unknown as Msg)("A")).toBe("1");
    expect(headersOf({} as unknown as Msg)("A")).toBe("");
  });
});
