import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { LAUNCHERS } from "./pack-programs.ts";

/** Stands for the pack's Node, which one directory of libraries keeps from starting. */
const NODE = `#!/bin/sh
[ "$LD_LIBRARY_PATH" = /unfit ] && exit 127
echo "libraries: \${LD_LIBRARY_PATH-none}, preload: \${LD_PRELOAD-none}, words: $*"
`;

let place: string;

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "antiphon-launchers-"));
  const write = (name: string, text: string): void => {
    const file = join(place, "lib", name);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, text, { mode: 0o755 });
  };
  write(`node_modules/node-linux-${process.arch}/bin/node`, NODE);
  write("package.json", JSON.stringify({ dependencies: { "@x/a": "1.0.0" } }));
  write("node_modules/@x/a/package.json", JSON.stringify({ bin: { a: "a.js", b: "native" } }));
  write("node_modules/@x/a/a.js", "#!/usr/bin/env node --no-warnings\n");
  write("node_modules/@x/a/native", NODE);
  execFileSync(process.execPath, ["--input-type=module", "-e", LAUNCHERS, place]);
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

const said = (program: string, env: Readonly<Record<string, string>>): string =>
  execFileSync(join(place, program), ["word"], {
    encoding: "utf8",
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });

it("starts a program of JavaScript with the pack's Node, and a native one by itself", () => {
  const script = `--no-warnings ${join(place, "lib/node_modules/@x/a/a.js")} word`;
  expect(said("bin/a", {})).toBe(`libraries: none, preload: none, words: ${script}\n`);
  expect(said("bin/b", {})).toBe("libraries: none, preload: none, words: word\n");
  expect(said("runtime/node", {})).toBe("libraries: none, preload: none, words: word\n");
});

it.each(["bin/a", "bin/b", "runtime/node"])(
  "%s drops what the image preloads, and the image's directory of libraries only where Node does not start with it",
  (program) => {
    expect(said(program, { LD_PRELOAD: "/nowhere.so", LD_LIBRARY_PATH: "/fit" })).toMatch(
      /^libraries: \/fit, preload: none, /,
    );
    expect(said(program, { LD_LIBRARY_PATH: "/unfit" })).toMatch(/^libraries: none, /);
  },
);
