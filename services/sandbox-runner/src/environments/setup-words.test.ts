import { expect, test } from "vitest";
import { shortened, wordsOfFailure } from "./setup-words.ts";

const ADVICE = "[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.\n".repeat(
  9,
);

test.each<[string, string, string, string]>([
  [
    "the first error line, without colours and what was said before",
    "Downloading\n\u001b[31m[ERROR] Detected JDK 11 is not in the allowed range [17,).\u001b[m\n[ERROR] -> [Help 1]\n",
    "",
    "[ERROR] Detected JDK 11 is not in the allowed range [17,).\n[ERROR] -> [Help 1]",
  ],
  [
    "the stream with the error, not the other one",
    "  Getting requirements to build editable: finished with status 'error'\n",
    "warning: x\nerror: metadata-generation-failed\n",
    "error: metadata-generation-failed",
  ],
  ["npm's error", "", "npm warn old\nnpm error code E404\n", "npm error code E404"],
  [
    "rustc's error",
    "",
    "   Compiling x\nerror[E0432]: unresolved import\n",
    "error[E0432]: unresolved import",
  ],
  ["apt's error", "", "Reading\nE: Unable to locate package x\n", "E: Unable to locate package x"],
  ["the ends of both where no line is an error", "no such file", "x: gone\n", "no such file; x: gone"],
  [
    "what Composer says before its usage",
    "",
    `Loading\n\nIn CurlDownloader.php line 623:\n\n  The file could not be downloaded   \n\n\ninstall [--prefer-source] ${"[--no-dev] ".repeat(60)}[--] [<packages>...]\n\n`,
    "Loading\n\nIn CurlDownloader.php line 623:\n\n  The file could not be downloaded",
  ],
  [
    "the last whole lines of a long end",
    "",
    `Retrying fetcher (4/4): ${"x".repeat(390)}\n\nCould not fetch specs\nfrom the server\n`,
    "Could not fetch specs\nfrom the server",
  ],
  ["the end of a line that is too long", "", `${"x".repeat(500)}y`, `${"x".repeat(399)}y`],
  [
    "nothing that a JVM says of the proxy",
    "",
    "Picked up JAVA_TOOL_OPTIONS: -Dhttp.proxyHost=127.0.0.1\n",
    "",
  ],
])("a setup that failed is explained by %s", (_what, stdout, stderr, told) => {
  expect(wordsOfFailure(stdout, stderr)).toBe(told);
});

test("a long explanation keeps its beginning and its end", () => {
  const told = wordsOfFailure(`[ERROR] No such artifact x:y:1\n${ADVICE}[ERROR] resume with -rf :z\n`, "");
  expect(told).toMatch(/^\[ERROR\] No such artifact x:y:1\n.* \.\.\. .*\[ERROR\] resume with -rf :z$/s);
  expect(told.length).toBeLessThan(720);
});

test("a long command is named by its beginning and its end, so that the error behind it is still read", () => {
  expect(shortened("npm ci")).toBe("npm ci");
  const command = `npm ci && node -e '${"x".repeat(8000)}' /tmp/home/.agent`;
  expect(shortened(command)).toMatch(/^npm ci && node -e .* \.\.\. .*' \/tmp\/home\/\.agent$/);
  expect(shortened(command).length).toBeLessThan(1000);
});

test("the end of a traceback stays, though what is said around it is shortened", () => {
  const failed = [
    "error: subprocess-exited-with-error",
    `  × python setup.py egg_info did not run successfully.\n${"      frame\n".repeat(30)}`,
    "      ModuleNotFoundError: No module named 'tomli'",
    `  note: This error originates from a subprocess.\n${"hint: See above for details.\n".repeat(15)}`,
  ].join("\n");
  const told = wordsOfFailure("", failed);
  expect(told).toContain(" ... ModuleNotFoundError: No module named 'tomli' ... ");
  expect(told.length).toBeLessThan(1000);
});
