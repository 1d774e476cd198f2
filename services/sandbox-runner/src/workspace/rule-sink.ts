/** Collects the `.gitignore` files of an archive and nothing else. As in git, a link by that name does not count. */
import type { RuleFile } from "./ignore-rules.ts";
import type { TarEntry, TarSink } from "./tar-reader.ts";

const MOST_FILES = 1000;
const MOST_BYTES = 4 * 1024 * 1024;

export class RuleSink implements TarSink {
  readonly files: RuleFile[] = [];
  #bytes = 0;
  #open: { readonly directory: string; readonly pieces: Buffer[] } | null = null;

  entry({ path, type, size }: TarEntry): void {
    const name = path.startsWith("./") ? path.slice(2) : path;
    const isRuleFile = name === ".gitignore" || name.endsWith("/.gitignore");
    if (type !== "file" || !isRuleFile) return;
    this.#bytes += size;
    if (this.#bytes > MOST_BYTES || this.files.length >= MOST_FILES) return;
    this.#open = { directory: name.slice(0, -".gitignore".length).replace(/\/$/, ""), pieces: [] };
  }

  data(piece: Buffer): void {
    this.#open?.pieces.push(Buffer.from(piece));
  }

  end(): void {
    if (this.#open === null) return;
    const { directory, pieces } = this.#open;
    this.files.push({ directory, content: Buffer.concat(pieces).toString("latin1") });
    this.#open = null;
  }
}
