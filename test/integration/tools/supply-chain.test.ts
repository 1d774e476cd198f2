/**
 * The project names the parts of others by their contents: actions of a workflow by commit, images by digest, npm packages
 * by SHA-512. No package runs a program of its own when it is installed.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../../e2e/support/program.ts";

const files = execFileSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" }).trim().split("\n");
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

/** The first group of each match, with its file. */
function found(pattern: RegExp, line: RegExp): string[] {
  return files
    .filter((file) => pattern.test(file))
    .flatMap((file) => [...read(file).matchAll(line)].map(([, first = ""]) => `${file}: ${first}`));
}

it("names the actions of its workflows by commit", () => {
  const actions = found(/^\.github\/workflows\//, /uses: *(\S+)/g);
  expect(actions).not.toEqual([]);
  expect(actions.filter((action) => !/@[0-9a-f]{40}$/.test(action))).toEqual([]);
});

it("names each image of others by its digest", () => {
  const images = [
    ...found(/^deploy\/.*\.yaml$/, /^ *image: *["']?(?:\$\{\w+:-)?([^\s"'}]+)/gm),
    ...found(/Dockerfile$/, /^ARG \w*IMAGE=(\S+)/gm),
    ...found(/Dockerfile$/, /^FROM (?!\$\{)(\S+)/gm),
    ...found(/Dockerfile$/, /COPY --from=(\S+\/\S+)/gm),
  ];
  const ofOthers = images.filter((image) => !/: (?:antiphon-[\w-]+:|runtime(?:-git)?$)/.test(image));
  expect(ofOthers.map((image) => image.replace(/@.*/, ""))).toEqual(
    expect.arrayContaining([
      "deploy/compose/compose.yaml: nats:2.15.0-alpine",
      "deploy/k8s/base/nats.yaml: nats:2.15.0-alpine",
      "deploy/k8s/base/sandbox-runner.yaml: docker:28-dind",
      "deploy/images/sandbox/Dockerfile: node:24-bookworm-slim",
      "deploy/images/service/Dockerfile: node:24-bookworm-slim",
    ]),
  );
  expect(ofOthers.filter((image) => !/@sha256:[0-9a-f]{64}$/.test(image))).toEqual([]);
});

it("installs its packages from the lock file, and runs no program of theirs", () => {
  const commands = [
    ...found(/^(\.github|\.ci|deploy)\//, /\b(npm (?:ci|install|i)\b[^\n]*)/g),
    ...found(/^setup\/npm-packages\.mjs$/, /run\("npm", \[([^\]]*)\]/g),
  ];
  expect(commands.length).toBeGreaterThan(2);
  expect(commands.filter((command) => !/\bci\b.*--ignore-scripts/.test(command))).toEqual([]);
});

it("has the SHA-512 of each package in its lock file", () => {
  const { packages } = JSON.parse(read("package-lock.json")) as {
    packages: Record<string, { integrity?: string; link?: boolean }>;
  };
  const fetched = Object.entries(packages).filter(
    ([place, { link }]) => place.includes("node_modules/") && link !== true,
  );
  expect(fetched.length).toBeGreaterThan(100);
  expect(
    fetched.filter(([, { integrity = "" }]) => !integrity.startsWith("sha512-")).map(([place]) => place),
  ).toEqual([]);
});
