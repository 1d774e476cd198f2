/** The locks of the packs hold what an arm64 machine installs; nothing is installed here. */
import { readdirSync, readFileSync } from "node:fs";
import { NODE_BUILDS, type NpmLock } from "@antiphon/contracts/runs/npm-lock";
import { describe, expect, it } from "vitest";

const AGENTS = new URL("../../agents/", import.meta.url);
const textOf = (file: string): string => readFileSync(new URL(file, AGENTS), "utf8");
const packsWith = (lock: string): string[] =>
  readdirSync(AGENTS).filter((pack) => readdirSync(new URL(`${pack}/`, AGENTS)).includes(lock));

/** Their registry has builds for x86_64 only. */
const X64_ONLY = ["opencode", "opencode-server"];

interface Build {
  readonly version: string;
  readonly integrity: string;
  readonly cpu?: string | readonly string[];
  readonly os?: string | readonly string[];
}

/** The builds of a lock for Linux and one processor, by place. */
function buildsFor(pack: string, cpu: string): ReadonlyMap<string, Build> {
  const { packages } = JSON.parse(textOf(`${pack}/package-lock.json`)) as NpmLock;
  const all = Object.entries(packages as unknown as Readonly<Record<string, Build>>);
  return new Map(
    all.filter(
      ([, build]) => [build.cpu].flat().join() === cpu && [build.os ?? "linux"].flat().includes("linux"),
    ),
  );
}

describe.each(packsWith("package-lock.json"))("agents/%s/package-lock.json", (pack) => {
  it("has the Node of both processors", () => {
    for (const [cpu, name] of [
      ["x64", NODE_BUILDS[0]],
      ["arm64", NODE_BUILDS[1]],
    ] as const)
      expect(buildsFor(pack, cpu).get(`node_modules/${name}`)?.integrity).toMatch(/^sha512-/);
  });

  it("has for each build for x86_64 that of arm64, in the same version and with its hash, but for those that have none", () => {
    const arm = buildsFor(pack, "arm64");
    const lacking = [...buildsFor(pack, "x64")].filter(([place, { version }]) => {
      const build = arm.get(place.replace("x64", "arm64"));
      return build?.integrity.startsWith("sha512-") !== true || sameIn(build.version) !== sameIn(version);
    });
    expect(lacking.length > 0).toBe(X64_ONLY.includes(pack));
  });
});

/** Some name the platform in the version. */
const sameIn = (version: string): string => version.replace(/-linux-(x64|arm64)/, "");

/** They have a wheel for each processor. */
const COMPILED = [
  "aiohttp",
  "jiter",
  "markupsafe",
  "pydantic-core",
  "pyyaml",
  "tiktoken",
  "tokenizers",
  "yarl",
];

it.each(packsWith("requirements.txt"))(
  "agents/%s/requirements.txt has the wheels of both processors",
  (pack) => {
    const [first = "", ...lines] = textOf(`${pack}/requirements.txt`).trim().split("\n");
    expect(first).toContain("glibc (x86_64, aarch64)");
    const hashes = new Map(
      lines.map((line) => {
        const [pin = "", ...all] = line.split(" --hash=sha256:");
        return [pin.split("==", 1)[0]?.toLowerCase().replaceAll("_", "-"), all];
      }),
    );
    for (const all of hashes.values()) for (const hash of all) expect(hash).toMatch(/^[0-9a-f]{64}$/);
    // Also where one wheel is for all Pythons: that of x86_64, that of arm64, and that of x86_64 with musl.
    for (const name of COMPILED) expect(hashes.get(name)?.length, name).toBeGreaterThanOrEqual(3);
  },
);
