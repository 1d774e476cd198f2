// How far the journal was told, in a file. It is replaced in one step, so a crash leaves the places before or after a notice.
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { AntiphonError } from "@antiphon/contracts";
import type { NewsPlaces } from "@antiphon/runtime";

/** Null: nothing was ever told from here. */
export async function readPlaces(file: string): Promise<NewsPlaces | null> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  const value = parsed(text);
  const isPlaces =
    typeof value === "object" && value !== null && Object.values(value).every(Number.isSafeInteger);
  if (isPlaces) return value as NewsPlaces;
  throw new AntiphonError("ANT_STATE_CORRUPT", `${file} does not say how far the journal was told`);
}

export async function keepPlaces(file: string, places: NewsPlaces): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.new`, JSON.stringify(places), { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
