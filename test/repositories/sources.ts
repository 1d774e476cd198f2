/** Fetches the sources of a release with the client of its registry, into a git repository of one commit. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PublicRepository } from "./catalogue.ts";

const FETCH_MS = 300_000;

function call(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): string {
  return execFileSync(program, args, {
    cwd,
    encoding: "utf8",
    timeout: FETCH_MS,
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
}

interface Fetched {
  readonly directory: string;
  /** Of the archive, or what the client says of it: `sha256:...`, Go's `h1:...`, a commit's id. */
  readonly digest: string;
}

/** The archive is another one than it was when its digest was noted. */
export class DigestDiffers extends Error {}

/**
 * The repository's directory. The caller removes the directory above it.
 *
 * @param digest what the archive must have; null: any
 * @throws when the client or the registry fails, or DigestDiffers
 */
export function fetchRepository(
  { registry, release }: Pick<PublicRepository, "registry" | "release">,
  digest: string | null = null,
): string {
  const work = mkdtempSync(join(tmpdir(), "antiphon-public-"));
  try {
    const target = join(work, "repository");
    const found = FETCH[registry](release, work);
    if (digest !== null && found.digest !== digest)
      throw new DigestDiffers(`${release} has ${found.digest} instead of ${digest}`);
    cpSync(found.directory, target, { recursive: true, verbatimSymlinks: true });
    call("chmod", ["-R", "u+w", target], work); // a module cache is read-only
    commit(target, "The release as it is");
    return target;
  } catch (error) {
    rmSync(work, { recursive: true, force: true });
    throw error;
  }
}

export function commit(repository: string, message: string): string {
  const git = (...args: string[]): string => call("git", args, repository);
  if (!existsSync(join(repository, ".git"))) git("init", "--quiet", "--initial-branch=main");
  if (git("status", "--porcelain", "--ignored") === "") return git("rev-parse", "HEAD").trim();
  git("add", "--all", "--force");
  const who = ["-c", "user.name=Test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"];
  git(...who, "commit", "--quiet", "--no-verify", "--message", message);
  return git("rev-parse", "HEAD").trim();
}

const FETCH: Readonly<Record<PublicRepository["registry"], (release: string, work: string) => Fetched>> = {
  npm: (release, work) => {
    call("npm", ["pack", release, "--silent"], work);
    return unpacked(work, /\.tgz$/);
  },
  pypi: (release, work) => {
    // Its metadata is prepared by the project's own build, so this runs in a directory of its own and keeps nothing.
    call("python3", ["-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", release], work);
    return unpacked(work, /\.(tar\.gz|zip)$/);
  },
  go: (release, work) => {
    const told = call("go", ["mod", "download", "-json", release], work, { GOFLAGS: "-modcacherw" });
    const { Dir: directory, Sum: digest } = JSON.parse(told) as { Dir: string; Sum: string };
    return { directory, digest };
  },
  crates: (release, work) => {
    const [name = "", version = ""] = release.split("@");
    call("cargo", ["init", "--quiet", "--name", "fetch"], work);
    call("cargo", ["add", "--quiet", `${name}@=${version}`], work);
    call("cargo", ["vendor", "--quiet", "--no-delete", "vendor"], work);
    const directory = join(work, "vendor", name);
    const sums = readFileSync(join(directory, ".cargo-checksum.json"), "utf8");
    return { directory, digest: `sha256:${(JSON.parse(sums) as { package: string }).package}` };
  },
  git: (release, work) => {
    const [name = "", commit = ""] = release.split("@");
    call("git", ["clone", "--quiet", `https://github.com/${name}`, "clone"], work);
    call("git", ["checkout", "--quiet", "--detach", commit], join(work, "clone"));
    return { directory: join(work, "clone"), digest: commit };
  },
  debian: (release, work) => {
    const lists = join(work, "lists");
    mkdirSync(join(lists, "partial"), { recursive: true });
    const sources = `deb-src http://deb.debian.org/debian bookworm main\n`;
    call("sh", ["-c", `printf '%s' '${sources}' > sources.list`], work);
    const options = [
      ...["-o", `Dir::Etc::SourceList=${join(work, "sources.list")}`, "-o", "Dir::Etc::SourceParts=-"],
      ...[
        "-o",
        `Dir::State::Lists=${lists}`,
        "-o",
        "Dir::Cache::pkgcache=",
        "-o",
        "Dir::Cache::srcpkgcache=",
      ],
    ];
    call("apt-get", [...options, "update", "-qq"], work);
    call("apt-get", [...options, "source", "--download-only", "-qq", release], work);
    return unpacked(work, /\.orig\.tar\.\w+$/);
  },
};

function unpacked(work: string, name: RegExp): Fetched {
  const archive = readdirSync(work).find((one) => name.test(one));
  if (archive === undefined) throw new Error(`the client fetched no archive into ${work}`);
  const bytes = readFileSync(join(work, archive));
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  const sources = join(work, "sources");
  mkdirSync(sources);
  const [program, ...args] = archive.endsWith(".zip")
    ? ["python3", "-m", "zipfile", "-e", archive, sources]
    : ["tar", "-xf", archive, "-C", sources, "--no-same-owner"];
  call(program ?? "", args, work);
  const [first = "", ...others] = readdirSync(sources).filter((one) =>
    statSync(join(sources, one)).isDirectory(),
  );
  return { directory: others.length === 0 ? join(sources, first) : sources, digest };
}
