// The files of the work tree as a git tree, and the difference to the beginning as a pack. Files that git ignores are left out. The
// work tree's own index and commits stay as they are; a repository in /tmp stands in where the work tree has none.
import { spawn } from "node:child_process";
import { copyFile, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MAX_PACK_BYTES = 32 * 1024 * 1024;
/** More files than this that git does not know at the beginning are a prepared environment, and no work. */
const MAX_UNKNOWN = 2000;
const LIMIT_MS = 60_000;
const SETTINGS = [
  ...["user.name=model", "user.email=model@localhost", "core.hooksPath=/dev/null", "core.autocrlf=false"],
  ...["core.fsmonitor=false", "gc.auto=0", "commit.gpgsign=false", "advice.addEmbeddedRepo=false"],
];

export class Tree {
  #root;
  #env;
  #begin = null;
  #excludes;

  static async open(root, env) {
    const place = await mkdtemp(join(tmpdir(), "antiphon-tree-"));
    const tree = new Tree(root, place, env);
    await tree.#start(place);
    return tree;
  }

  constructor(root, place, env) {
    this.#root = root;
    this.#env = { ...env, GIT_INDEX_FILE: join(place, "index"), GIT_OPTIONAL_LOCKS: "0" };
    this.#excludes = join(place, "excludes");
  }

  async #start(place) {
    await writeFile(this.#excludes, "");
    const own = await this.#git(["rev-parse", "--absolute-git-dir"]).catch(() => null);
    const head = own === null ? null : await this.#git(["rev-parse", "--verify", "HEAD"]).catch(() => null);
    if (head === null) {
      // Equal files have an equal tree, and a commit without a time of its own an equal id, in every container.
      const stamp = "1970-01-01T00:00:00Z";
      Object.assign(this.#env, { GIT_DIR: join(place, "git"), GIT_WORK_TREE: this.#root });
      Object.assign(this.#env, { GIT_AUTHOR_DATE: stamp, GIT_COMMITTER_DATE: stamp });
      await this.#git(["init", "--quiet"]);
    } else {
      await copyFile(join(own, "index"), this.#env.GIT_INDEX_FILE).catch(() =>
        this.#git(["read-tree", "HEAD"]),
      );
    }
    await this.#leaveOut();
    const tree = await this.#added();
    if (head === null) {
      const commit = await this.#git(["commit-tree", tree, "-m", "The beginning"]);
      await this.#git(["update-ref", "HEAD", commit]);
      this.#begin = { base: commit, head: commit, tree };
    } else this.#begin = { base: head, head, tree };
  }

  /** Leaves out the files of a prepared environment: every container has them. */
  async #leaveOut() {
    const unknown = (await this.#git(["ls-files", "--others", "--exclude-standard", "-z"])).split("\0");
    if (unknown.length <= MAX_UNKNOWN) return;
    const listed = await this.#git(["ls-files", "--others", "--exclude-standard", "--directory", "-z"]);
    const names = listed.split("\0").filter((name) => name !== "" && !name.includes("\n"));
    const rules = names.map((name) => `/${name.replace(/[\\*?[\]! #]/g, "\\$&")}\n`);
    await writeFile(this.#excludes, rules.join(""));
  }

  async now() {
    return {
      base: this.#begin.base,
      head: await this.#git(["rev-parse", "HEAD"]),
      tree: await this.#added(),
    };
  }

  isSame(one, other) {
    return other !== null && one.tree === other.tree && one.head === other.head;
  }

  isBeginning(tree) {
    return this.isSame(tree, this.#begin);
  }

  /** A pack of the objects behind these files and commits that another container does not have. */
  async packed({ base, head, tree }) {
    const wanted = `${head}\n${tree}\n^${base}\n`;
    return this.#run(["pack-objects", "--quiet", "--revs", "--thin", "--stdout"], wanted);
  }

  /** The work tree has these files afterwards, and no others but ignored ones. */
  async restore({ base, head, tree }, pack) {
    if (base !== this.#begin.base) throw new Error("the checkpoint is of another beginning");
    if (pack !== null) await this.#run(["index-pack", "--stdin", "--fix-thin"], pack);
    await this.#put(head, tree);
  }

  /** Back to the beginning. */
  async reset() {
    await this.#put(this.#begin.head, this.#begin.tree);
  }

  async #put(head, tree) {
    await this.#added(); // so that git knows, and removes, files that are not among the wanted ones
    await this.#git(["read-tree", "--reset", "-u", tree]);
    const found = await this.#added();
    if (found !== tree) throw new Error(`the files are ${found} and not ${tree}`);
    await this.#git(["update-ref", "HEAD", head]);
    if (this.#env.GIT_DIR !== undefined) return;
    const { GIT_INDEX_FILE: _own, ...env } = this.#env;
    await this.#run(["read-tree", head], "", env);
  }

  async #added() {
    await this.#git(["-c", `core.excludesFile=${this.#excludes}`, "add", "--all"]);
    return this.#git(["write-tree"]);
  }

  async #git(words) {
    return (await this.#run(words, "")).toString("utf8").trim();
  }

  #run(words, input, env = this.#env) {
    const all = [...SETTINGS.flatMap((one) => ["-c", one]), ...words];
    return new Promise((resolve, reject) => {
      const child = spawn("git", all, { cwd: this.#root, env, timeout: LIMIT_MS, killSignal: "SIGKILL" });
      const pieces = [];
      let bytes = 0;
      let said = "";
      child.stdout.on("data", (piece) => {
        bytes += piece.length;
        if (bytes > MAX_PACK_BYTES) child.kill("SIGKILL");
        else pieces.push(piece);
      });
      child.stderr.setEncoding("utf8").on("data", (text) => (said = (said + text).slice(-2000)));
      child.on("error", reject);
      child.stdin.on("error", () => undefined); // git says why it did not read on
      child.stdin.end(input);
      child.on("close", (code, signal) => {
        if (code === 0) return resolve(Buffer.concat(pieces));
        const why = bytes > MAX_PACK_BYTES ? `more than ${MAX_PACK_BYTES} bytes` : said.trim();
        reject(
          new Error(
            `git ${words.find((word) => !word.startsWith("-") && !word.includes("=")) ?? ""}: ${why || signal || code}`,
          ),
        );
      });
    });
  }
}
