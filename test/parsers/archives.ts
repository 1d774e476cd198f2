/** Archives with valid headers, so that a reader reaches their contents. */
import { writeTar } from "../../git/src/trees/tar-writer.ts";
import type { Shape } from "./growth.ts";
import { numbered, repeated } from "./shapes.ts";

/** Each line is an entry: a name, or `x` and the body of a pax header. */
export const planted: readonly Shape[] = [
  numbered("files", (i) => `d${i}/f\n`),
  numbered("files in one another", (i) => `${"d/".repeat(i % 60)}f${i}\n`),
  numbered("pax headers", (i) => `=11 path=a${i % 10}\v\n`),
  ...repeated(["11 path=ab\v", "1", " ", "=", "30 "], (body) => `=${body}\n`),
  ...repeated(["a", "/", "a/", "\xff"]),
];

export function tarOf(text: string): Buffer {
  const entries = text.split("\n").filter((line) => line !== "");
  const parts = entries.map((line) => {
    const isPax = line.startsWith("=");
    const body = Buffer.from(isPax ? line.slice(1).replaceAll("\v", "\n") : "", "latin1");
    const path = isPax ? "pax" : line;
    const whole = writeTar([{ path, mode: "100644", content: body }]).subarray(0, -1024);
    return isPax ? typed(whole, "x") : whole;
  });
  return Buffer.concat([...parts, Buffer.alloc(1024)]);
}

/** The first header with another type and a corrected checksum. */
function typed(tar: Buffer, type: string): Buffer {
  const at = 0;
  const before = tar[at + 156] ?? 0;
  const sum = Number.parseInt(tar.toString("latin1", at + 148, at + 154), 8);
  tar.write(type, at + 156, "latin1");
  const mended = sum - before + type.charCodeAt(0);
  tar.write(`${mended.toString(8).padStart(6, "0")}\0 `, at + 148, "latin1");
  return tar;
}
