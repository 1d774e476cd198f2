/** Runs on this machine's own C library, which is one of Debian or Ubuntu where the project is developed and in CI. */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { OWN_LIBC } from "./pack-programs.ts";

const PROGRAM = "/usr/bin/env";
const MUSL = "/lib/ld-musl-x86_64.so.1";

/** The loader that a program of this machine names, with the byte that ends it. */
function loaderIn(program: Buffer): string {
  const [loader] = /\/lib(?:64)?\/ld-linux-[\w.-]+\0/.exec(program.toString("latin1")) ?? [];
  if (loader === undefined) throw new Error(`${PROGRAM} names no loader of glibc`);
  return loader;
}

interface Pack {
  readonly place: string;
  readonly program: string;
  readonly original: Buffer;
  /** Returns what it prints. */
  readonly keepsLibc: () => string;
}

/** A pack in a directory with a name of this length holds one program, with its text below. */
function withPack(length: number, tested: (pack: Pack) => void): void {
  const start = mkdtempSync("/tmp/p");
  const place = start.padEnd(length, "p");
  try {
    const folder = join(place, "lib/node_modules/a/bin");
    mkdirSync(folder, { recursive: true });
    const program = join(folder, "a");
    copyFileSync(PROGRAM, program);
    const keepsLibc = (): string =>
      execFileSync(process.execPath, ["--input-type=module", "-e", OWN_LIBC, place], { encoding: "utf8" });
    tested({ place, program, original: readFileSync(program), keepsLibc });
  } finally {
    for (const directory of [start, place]) rmSync(directory, { recursive: true, force: true });
  }
}

/** What the loader of a program says it loads, each with its path. */
function loadedBy(program: string): string[] {
  const env = { LD_TRACE_LOADED_OBJECTS: "1" };
  const told = execFileSync(program, { encoding: "utf8", env });
  return [...told.matchAll(/(\/\S+) \(0x/g)].map(([, path = ""]) => path.replaceAll(/\/+/g, "/"));
}

it("makes a program of the pack load the pack's loader and libraries and nothing else, with no variable set", () => {
  withPack(16, ({ place, program, original, keepsLibc }) => {
    expect(loadedBy(program).join()).not.toContain(place);
    expect(keepsLibc()).toBe("");
    const loaded = loadedBy(program);
    expect(loaded).toContain(`${place}/libc/libc.so.6`);
    expect(loaded).toContain(`${place}/libc/ld`);
    expect(loaded.filter((path) => !path.startsWith(`${place}/libc/`))).toEqual([]);
    expect(readFileSync(program)).toHaveLength(original.length);
    expect(execFileSync(program, ["A=b"], { encoding: "utf8", env: {} })).toBe("A=b\n");
  });
});

it("changes no file but programs for the loader of this image", () => {
  withPack(16, ({ place, original, keepsLibc }) => {
    const loader = loaderIn(original);
    const forMusl = Buffer.from(
      original.toString("latin1").replace(loader, MUSL.padEnd(loader.length, "\0")),
      "latin1",
    );
    const others = {
      "for-musl": forMusl,
      script: Buffer.from(`#!${loader}\n`),
      short: original.subarray(0, 64),
    };
    for (const [name, bytes] of Object.entries(others)) writeFileSync(join(place, "lib", name), bytes);
    keepsLibc();
    for (const [name, bytes] of Object.entries(others))
      expect(readFileSync(join(place, "lib", name)).equals(bytes), name).toBe(true);
  });
});

it("leaves the programs as they are, and says so, where the loader has no path that is long enough", () => {
  withPack(40, ({ place, program, original, keepsLibc }) => {
    expect(keepsLibc()).toMatch(/need that of the image in which they run/);
    expect(readFileSync(program).equals(original)).toBe(true);
    expect(existsSync(join(place, "libc"))).toBe(false);
  });
});

it("does nothing for a pack without such programs", () => {
  withPack(16, ({ place, program, keepsLibc }) => {
    rmSync(program);
    expect(keepsLibc()).toBe("");
    expect(existsSync(join(place, "libc"))).toBe(false);
  });
});
