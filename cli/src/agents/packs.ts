// Finds agent packs: by the path of their directory, among the user's own, among those of this installation.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import { completePack as withFiles } from "@antiphon/contracts/runs/pack-files";
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

/** The pack with the content of its own files. */
export function completePack(file: string): AgentPack {
  return withFiles(readPack(file), (name) => {
    const own = join(dirname(file), name);
    return existsSync(own) ? readFileSync(own) : null;
  });
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
