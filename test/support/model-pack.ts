/** The agent `model` as its pack installs it: its packages from the registry, its own files beside them. */
import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

const PACK = join(import.meta.dirname, "../../agents/model");

/** @returns the path of its program */
export function installModelPack(place: string): string {
  const { install } = parse(readFileSync(join(PACK, "agent.yaml"), "utf8")) as {
    install: { npm: string[]; files: string[] };
  };
  execFileSync("npm", ["install", "--prefix", place, "--no-audit", "--no-fund", "--silent", ...install.npm]);
  for (const name of install.files) copyFileSync(join(PACK, name), join(place, name));
  return join(place, "loop.mjs");
}
