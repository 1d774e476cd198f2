// Stacks that name lines of the sources, where the program that runs is a bundle.
//
// Node can do that itself (`--enable-source-maps`), but it reads every map when a bundle is loaded and keeps it: 5 to 10 MB in each
// service, for stacks that are hardly ever shown. Here a map is read when a stack is logged, and may be collected afterwards.
import { readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** `    at name (file:///bundle/chunks/x.js:12:345)`, with or without a name. */
const FRAME = /^(\s+at (?:.* \()?)(file:\/\/\S+?\.js):(\d+):(\d+)(\)?)$/;

/** Characters. A frame is shorter; a longer line is part of a message. */
const LONGEST_FRAME = 1024;

const maps = new Map<string, WeakRef<SourceMap>>();

/** Returns the stack with each place in the running bundle replaced by its place in the sources. Text of others is left as it is. */
export function sourceStack(stack: string, bundle: string = dirname(process.argv[1] ?? "")): string {
  const own = `${pathToFileURL(bundle).href}/`;
  return stack
    .split("\n")
    .map((line) => {
      if (line.length > LONGEST_FRAME) return line;
      const [, before, file = "", row, column, after] = FRAME.exec(line) ?? [];
      const place = isBelow(own, file) ? originOf(file, Number(row), Number(column)) : null;
      return place === null ? line : `${before}${place}${after}`;
    })
    .join("\n");
}

/** A message may hold any text, such as a way out of the directory. */
function isBelow(directory: string, file: string): boolean {
  return URL.canParse(file) && new URL(file).href === file && file.startsWith(directory);
}

function originOf(file: string, row: number, column: number): string | null {
  const origin = mapOf(file)?.findOrigin(row, column);
  if (origin === undefined || !("fileName" in origin)) return null;
  const source = new URL(origin.fileName, file);
  const name = source.protocol === "file:" ? fileURLToPath(source) : source.href;
  return `${name}:${origin.lineNumber}:${origin.columnNumber}`;
}

function mapOf(file: string): SourceMap | null {
  const known = maps.get(file)?.deref();
  if (known !== undefined) return known;
  try {
    const map = new SourceMap(JSON.parse(readFileSync(new URL(`${file}.map`), "utf8")) as SourceMapPayload);
    maps.set(file, new WeakRef(map));
    return map;
  } catch {
    return null; // A bundle without maps: its own lines are all that is known.
  }
}
