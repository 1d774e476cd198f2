/**
 * The allowlist of a deployment: `images.json` in the state directory, written by `antiphon images allow`.
 *
 * It is read on every use, so that a list that is copied in takes effect at once. Changes run one after the other; each
 * is written to a second file and renamed, and it survives a power cut once it was answered.
 */
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { AntiphonError } from "@antiphon/contracts";
import { flush } from "@antiphon/runtime";
import { allowlistText, parseAllowlist, type AllowedImage } from "./image-allowlist.ts";

export class AllowlistFile {
  readonly #path: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Empty when there is no file. Throws ANT_STATE_CORRUPT when the file is not an allowlist, so that it allows nothing.
   */
  async read(): Promise<AllowedImage[]> {
    let text: string;
    try {
      text = await readFile(this.#path, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw new AntiphonError("ANT_STATE_CORRUPT", `${this.#path} cannot be read`, { cause: error });
    }
    const images = parseAllowlist(text);
    if (images === null) throw new AntiphonError("ANT_STATE_CORRUPT", `${this.#path} is not an allowlist`);
    return images;
  }

  change(next: (images: readonly AllowedImage[]) => AllowedImage[]): Promise<void> {
    const work = this.#last.then(async () => {
      const images = next(await this.read());
      const beside = `${this.#path}.${process.pid}`;
      await mkdir(dirname(this.#path), { recursive: true });
      try {
        await writeFile(beside, allowlistText(images), { mode: 0o600, flush: true });
        await rename(beside, this.#path);
        await flush(dirname(this.#path));
      } finally {
        await rm(beside, { force: true });
      }
    });
    this.#last = work.catch(() => undefined);
    return work;
  }
}
