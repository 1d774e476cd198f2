import { expect, test } from "vitest";
import { lockText, pinsOf, type PipReport, type Resolved } from "./lock-text.ts";

const report = (...packages: readonly (readonly [string, string, string])[]): PipReport => ({
  install: packages.map(([name, version, sha256]) => ({
    metadata: { name, version },
    download_info: { archive_info: { hashes: { sha256 } } },
  })),
});
const on = (python: string, platform: string, of: PipReport): Resolved => ({ python, platform, report: of });

test("a lock has each package once, with the hashes of all platforms, and says for which it is", () => {
  const resolved = [
    on("3.11", "glibc x86_64", report(["Typing_Extensions", "4.1", "aa"], ["zlib.ng", "1.0", "cc"])),
    on("3.11", "musl x86_64", report(["typing-extensions", "4.1", "aa"], ["zlib-ng", "1.0", "bb"])),
    on("3.12", "glibc x86_64", report(["typing-extensions", "4.1", "aa"], ["only-here", "2", "dd"])),
  ];
  expect(lockText(["my-agent==1.0"], resolved)).toBe(
    [
      "# What my-agent==1.0 needs, from the reports of pip: CPython 3.11 (glibc x86_64, musl x86_64), 3.12 (glibc x86_64).",
      "only-here==2 --hash=sha256:dd",
      "typing-extensions==4.1 --hash=sha256:aa",
      "zlib-ng==1.0 --hash=sha256:bb --hash=sha256:cc",
      "",
    ].join("\n"),
  );
  expect(pinsOf(resolved[0]!.report)).toEqual(["typing-extensions==4.1", "zlib-ng==1.0"]);
});

test("two versions of one package, and a package without a hash, make no lock", () => {
  const two = [on("3.11", "a", report(["x", "1", "aa"])), on("3.12", "a", report(["X", "2", "bb"]))];
  expect(() => lockText([], two)).toThrow("Python 3.12, a: x==2, and x==1 before");
  const bare = { install: [{ metadata: { name: "x", version: "1" }, download_info: {} }] };
  expect(() => lockText([], [on("3.11", "a", bare)])).toThrow("no hash of x==1");
});
