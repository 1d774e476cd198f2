/**
 * Finds what a layered sandbox changed from a list of what its top holds. Pure.
 *
 * The top is all that was written: a file that is not in it is as it is in the layer. A name that was removed from a layer
 * stands in the top as a mark. A directory that was removed and made again shows nothing of the layer, so everything that
 * the layer has there is missing unless the top has it; its supervisor reports such a directory as complete.
 */
import type { Baseline } from "../workspace/collected.ts";
import { sortedPathsOf } from "../workspace/sorted-paths.ts";
import { NamesReader, type Survey } from "../workspace/survey.ts";

export class TopReader extends NamesReader {
  readonly #files = new Set<string>();
  readonly #removed: string[] = [];
  readonly #directories = new Set<string>();
  readonly #complete: string[] = [];

  /** `layer`: what /workspace held before anything was written. */
  result(layer: Baseline): Survey {
    this.finish();
    const paths = sortedPathsOf(layer);
    const missing = new Set<string>();
    const lose = (found: Iterable<string>): void => {
      for (const path of found) missing.add(path);
    };
    for (const path of this.#removed) {
      if (layer.has(path)) missing.add(path);
      lose(paths.below(`${path}/`));
    }
    for (const path of this.#files) lose(paths.below(`${path}/`)); // a file where the layer has a directory
    for (const path of this.#directories) if (layer.has(path)) missing.add(path); // and the other way about
    for (const directory of this.#complete) {
      for (const path of paths.below(directory)) {
        const end = path.indexOf("/", directory.length);
        const child = end < 0 ? path : path.slice(0, end);
        if (!this.#files.has(child) && !this.#directories.has(child)) missing.add(path);
      }
    }
    return { changed: [...this.#files], missing };
  }

  protected record(record: string): number {
    const path = record.slice(1);
    const directory = path.endsWith("/") ? path.slice(0, -1) : path;
    switch (record[0]) {
      case "+":
        this.#files.add(path);
        return this.#files.size;
      case "-":
        this.#removed.push(path);
        return this.#removed.length;
      case "=":
        this.#complete.push(path);
        this.#directories.add(directory);
        return this.#directories.size;
      default:
        this.#directories.add(directory);
        return this.#directories.size;
    }
  }
}
