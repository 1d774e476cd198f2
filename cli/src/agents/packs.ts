// Finds agent packs: by the path of their directory, among the user's own, among those of this installation.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { parse } from "yaml";
import { fileCommand } from "@antiphon/contracts/runs/pack-agent";
import { validate } from "@antiphon/contracts/validation/validate";
import type { AgentPack } from "@antiphon/contracts/settings/agent-pack";
import { usage } from "../failure.ts";
import type { PackPlaces } from "./pack-places.ts";

const FILE = "agent.yaml";

export interface FoundPack {
  readonly pack: AgentPack;
  /** Its file. */
  readonly file: string;
  readonly origin: "own" | "shipped";
}

/** With its own files as commands. Null: there is no such pack. Throws ANT_USAGE when its file is not a pack. */
export function findPack(name: string, places: PackPlaces): AgentPack | null {
  if (name.includes("/") || name === ".") return completePack(resolve(name, FILE));
  const file = [places.own, places.shipped]
    .map((place) => join(place, name, FILE))
    .find((one) => existsSync(one));
  return file === undefined ? null : completePack(file);
}

export function allPacks(places: PackPlaces): FoundPack[] {
  const found = new Map<string, FoundPack>();
  for (const origin of ["shipped", "own"] as const) {
    const place = places[origin];
    for (const name of existsSync(place) ? readdirSync(place) : []) {
      const file = join(place, name, FILE);
      if (existsSync(file)) found.set(name, { pack: readPack(file), file, origin });
    }
  }
  return [...found.values()].sort((a, b) => (a.pack.name < b.pack.name ? -1 : 1));
}

/** A record of the run holds the command, and no command is longer. */
const COMMAND_CHARS = 8000;

/** The pack with the content of its own files, so that nothing else has to read them. */
export function completePack(file: string): AgentPack {
  const { install, ...pack } = readPack(file);
  if (install === undefined) return pack;
  const { files = [], commands = [], ...packages } = install;
  const all = [...files.map((name) => writing(dirname(file), name)), ...commands];
  return { ...pack, install: { ...packages, ...(all.length === 0 ? {} : { commands: all }) } };
}

function writing(directory: string, name: string): string {
  const file = join(directory, name);
  if (!existsSync(file)) throw usage(`${file}: there is no such file`, "agent.yaml lists it under `files`");
  const content = gzipSync(readFileSync(file), { level: 9 }).toString("base64");
  const command = fileCommand(name, content);
  if (command.length <= COMMAND_CHARS) return command;
  throw usage(
    `${file} is too large for a file of a pack: ${content.length} characters when packed, of at most ${COMMAND_CHARS}`,
    "publish it as a package and install it with `npm` or `pip`",
  );
}

export function readPack(file: string): AgentPack {
  let document: unknown;
  try {
    document = parse(readFileSync(file, "utf8"));
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    const why = isMissing ? "there is no such file" : (error as Error).message.split("\n")[0];
    throw usage(
      `${file}: ${why ?? ""}`,
      "a pack is a directory with an agent.yaml; `antiphon agents list` lists packs",
    );
  }
  const checked = validate("AgentPack", document);
  if (checked.ok) return checked.value;
  const [first] = checked.errors;
  throw usage(
    `${file}: ${first?.path ?? ""} ${first?.message ?? "is not an agent pack"}`,
    "`antiphon explain AgentPack` shows all fields",
  );
}
