/**
 * Bare copies of remote repositories, one directory for each URL: a cache that may be deleted while no service uses it.
 * The remote is the truth about branches. A copy is made and updated by git's own fetch; what a Director builds is
 * written into the copy's object store, and no ref but the remote's points into it.
 *
 * Updates of one repository run one after the other. An update that was asked for while another one ran starts after
 * it, so a caller always gets the branches as they were after its own call began.
 */
import { createHash, randomUUID } from "node:crypto";
import { access as accessible, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { AntiphonError, isRefName } from "@antiphon/contracts";
import { isObjectId } from "../objects/git-object.ts";
import { git, runGit } from "../process/git-process.ts";
import { openRepo, type Repo } from "../repository/repo.ts";
import { LOCAL_SENDER, remoteGit, type RemoteAccess } from "./transport.ts";

const REFSPECS = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];

interface Updating {
  readonly running: Promise<void>;
  /** The next update, shared by all who asked for one meanwhile. */
  next: Promise<void> | null;
}

export class Mirrors {
  readonly directory: string;
  readonly access: RemoteAccess;
  readonly #updating = new Map<string, Updating>();

  constructor(directory: string, access: RemoteAccess) {
    this.directory = directory;
    this.access = access;
  }

  /** The copy as it is; made if there is none. `url` is canonical. */
  async open(url: string): Promise<Repo> {
    const place = this.#placeOf(url);
    if (!(await isThere(join(place, "HEAD")))) await this.refresh(url);
    return openRepo(place);
  }

  /** The copy with the branches and tags that the remote has now. */
  async refreshed(url: string): Promise<Repo> {
    await this.refresh(url);
    return openRepo(this.#placeOf(url));
  }

  refresh(url: string): Promise<void> {
    const current = this.#updating.get(url);
    if (current !== undefined) {
      const again = (): Promise<void> => this.#begin(url);
      return (current.next ??= current.running.then(again, again));
    }
    return this.#begin(url);
  }

  #begin(url: string): Promise<void> {
    const running = this.#update(url).finally(() => {
      if (this.#updating.get(url) === updating) this.#updating.delete(url);
    });
    const updating: Updating = { running, next: null };
    this.#updating.set(url, updating);
    return running;
  }

  /** The commit that a branch of the remote points to now; null if there is none. */
  async tip(url: string, ref: string): Promise<string | null> {
    if (!ref.startsWith("refs/") || !isRefName(ref))
      throw new AntiphonError("ANT_REPO_REF_INVALID", `${JSON.stringify(ref.slice(0, 100))} is no ref`);
    const lines = await this.#list(url, [ref]);
    return lines.find(([, name]) => name === ref)?.[0] ?? null;
  }

  #placeOf(url: string): string {
    return join(this.directory, `${createHash("sha256").update(url).digest("hex").slice(0, 32)}.git`);
  }

  async #update(url: string): Promise<void> {
    const place = this.#placeOf(url);
    const head = (await this.#list(url, ["--symref", "HEAD"])).map(([first, second]) => ({ first, second }));
    if (!(await isThere(join(place, "HEAD")))) {
      const id = head.find(({ first }) => isObjectId(first))?.first ?? "";
      await this.#make(place, id.length === 64 ? "sha256" : "sha1");
    }
    const args = ["fetch", "--quiet", "--prune", "--no-write-fetch-head", "--no-auto-maintenance"];
    const here = url.startsWith("file:") ? [`--upload-pack=${LOCAL_SENDER}`] : [];
    const call = {
      gitDir: place,
      args: [...args, "--no-recurse-submodules", ...here, "--", url, ...REFSPECS],
    };
    await remoteGit(url, call, this.access);
    const branch = /^ref: (refs\/heads\/\S+)$/.exec(head[0]?.first ?? "")?.[1];
    if (branch !== undefined && isRefName(branch))
      await git({ gitDir: place, args: ["symbolic-ref", "HEAD", branch] });
  }

  /** Complete or not at all: another process may make it at the same time. */
  async #make(place: string, format: "sha1" | "sha256"): Promise<void> {
    await mkdir(this.directory, { recursive: true });
    const made = `${place}.${randomUUID()}`;
    try {
      await initBare(made, format);
      await rename(made, place);
    } catch (error) {
      if (!(await isThere(join(place, "HEAD")))) throw error;
    } finally {
      await rm(made, { recursive: true, force: true });
    }
  }

  /** Lines of `ls-remote` as `[id or "ref: …", name]`. */
  async #list(url: string, asked: readonly string[]): Promise<[string, string][]> {
    const options = asked.filter((one) => one.startsWith("--"));
    const patterns = asked.filter((one) => !one.startsWith("--"));
    const here = url.startsWith("file:") ? [`--upload-pack=${LOCAL_SENDER}`] : [];
    const args = ["ls-remote", ...options, ...here, "--", url, ...patterns];
    const text = (await remoteGit(url, { args, deadlineMs: 60_000 }, this.access)).toString("utf8");
    return text.split("\n").flatMap((line): [string, string][] => {
      const [first, second] = line.split("\t");
      return first === undefined || second === undefined ? [] : [[first, second]];
    });
  }
}

/** The commits of `wanted` that a repository lacks. One process. */
export async function missingCommits(repo: Repo, wanted: readonly string[]): Promise<string[]> {
  if (wanted.length === 0) return [];
  const stdin = `${wanted.join("\n")}\n`;
  const { stdout } = await runGit({ gitDir: repo.gitDir, args: ["cat-file", "--batch-check"], stdin });
  const lines = stdout.toString("utf8").split("\n");
  return wanted.filter((_, i) => lines[i]?.includes(" commit ") !== true);
}

async function isThere(path: string): Promise<boolean> {
  return accessible(path).then(
    () => true,
    () => false,
  );
}

/** An empty repository without a work tree, in a directory that does not exist. */
export async function initBare(directory: string, format: "sha1" | "sha256"): Promise<void> {
  await git({ args: ["init", "--quiet", "--bare", "--template=", `--object-format=${format}`, directory] });
}
