/**
 * Reads packages from the Debian (or Ubuntu) archive with this machine's own apt but private lists, cache and package
 * database, so the system's apt state does not change and no root is needed. Packages are only downloaded and unpacked, never installed.
 */
import { appendFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { reasonOf, run } from "./command.mjs";
import { StepFailure } from "./step-failure.mjs";

const UPDATE_TIMEOUT_MS = 120_000;
const DOWNLOAD_TIMEOUT_MS = 600_000;
const UNPACK_TIMEOUT_MS = 300_000;

/** The names and keyrings of the distributions' archives. */
const DISTRIBUTIONS = {
  debian: {
    mirror: "http://deb.debian.org/debian/",
    keyring: "/usr/share/keyrings/debian-archive-keyring.gpg",
    repository: /\/debian(-security)?\/?$/,
    components: ["main"],
  },
  ubuntu: {
    mirror: "http://archive.ubuntu.com/ubuntu/",
    keyring: "/usr/share/keyrings/ubuntu-archive-keyring.gpg",
    repository: /\/ubuntu(-ports)?\/?$/,
    components: ["main", "universe"],
  },
};

/**
 * The archive of this machine's own packages, or null if it is neither Debian nor Ubuntu.
 *
 * @returns {Promise<{id: "debian" | "ubuntu", codename: string} | null>}
 */
export async function hostDistribution() {
  const text = await readFile("/etc/os-release", "utf8").catch(() => "");
  const fields = new Map(
    text.split("\n").map((line) => {
      const [key = "", ...value] = line.split("=");
      return [key, value.join("=").replace(/^"|"$/g, "")];
    }),
  );
  const id = fields.get("ID");
  const codename = fields.get("VERSION_CODENAME");
  if ((id !== "debian" && id !== "ubuntu") || codename === undefined) return null;
  return { id, codename };
}

/**
 * Opens an archive: one release, with its updates, in a private apt state below `directory`.
 *
 * @param {{id: "debian" | "ubuntu", codename: string, directory: string, note: (text: string) => void}} input
 */
export async function openArchive({ id, codename, directory, note }) {
  const distribution = DISTRIBUTIONS[id];
  await Promise.all(
    ["lists/partial", "cache/archives/partial"].map((part) =>
      mkdir(path.join(directory, part), { recursive: true }),
    ),
  );
  await writeFile(path.join(directory, "status"), "");
  await writeFile(path.join(directory, "sources.list"), await sourceLines(distribution, codename));
  await writeFile(path.join(directory, "apt.conf"), await configuration(directory));
  const env = { ...process.env, APT_CONFIG: path.join(directory, "apt.conf"), LC_ALL: "C.UTF-8" };

  /** @param {readonly string[]} args @param {number} timeoutMs */
  const apt = async (args, timeoutMs) => {
    const result = await run("apt-get", args, { cwd: directory, env, timeoutMs });
    if (result.code !== 0)
      throw new StepFailure(
        `apt-get ${args[0]} from the ${id} ${codename} archive failed: ${reasonOf(result)}`,
        "check that this machine reaches its Debian mirror (apt-get update), then run npm run setup again",
      );
  };
  try {
    await apt(["update"], UPDATE_TIMEOUT_MS);
  } catch (error) {
    // A mirror that lags or is frozen on purpose has an index past its date. It is still signed, and
    // every tool fetched from it is checked for its version.
    if (!(error instanceof StepFailure && /is expired|not valid yet/.test(error.message))) throw error;
    note("the mirror's index is past its date; using it, since its signature holds");
    await appendFile(path.join(directory, "apt.conf"), 'Acquire::Check-Valid-Until "false";\n');
    await apt(["update"], UPDATE_TIMEOUT_MS);
  }

  const archives = path.join(directory, "cache/archives");
  const debs = async (/** @type {string} */ folder) =>
    (await readdir(folder)).filter((name) => name.endsWith(".deb")).map((name) => path.join(folder, name));
  return {
    /** One package alone. @param {string} name @returns {Promise<string>} its .deb */
    async package(name) {
      await apt(["download", name], DOWNLOAD_TIMEOUT_MS);
      const deb = (await debs(directory)).find((file) => path.basename(file).startsWith(`${name}_`));
      if (deb === undefined)
        throw new StepFailure(`apt-get download ${name} left no file`, "run npm run setup again");
      return deb;
    },
    /** Packages with all their dependencies. @param {readonly string[]} names @returns {Promise<string[]>} */
    async closure(names) {
      // The private package database is empty, so apt resolves every dependency afresh.
      await apt(
        ["install", "--yes", "--no-install-recommends", "--download-only", ...names],
        DOWNLOAD_TIMEOUT_MS,
      );
      return debs(archives);
    },
  };
}

/**
 * Unpacks packages side by side; runs none of their programs or scripts.
 *
 * @param {readonly string[]} debs
 * @param {string} directory
 * @param {readonly string[]} [unwanted] patterns of `./path` left out
 */
export async function unpackInto(debs, directory, unwanted = []) {
  await mkdir(directory, { recursive: true });
  const script = `set -e -o pipefail
mapfile -t exclude <<<"$EXCLUDE"
for deb in "$@"; do
  dpkg-deb --fsys-tarfile "$deb" |
    tar -xp --keep-directory-symlink --no-same-owner -C "$DIRECTORY" "\${exclude[@]/#/--exclude=}"
done`;
  const result = await run("bash", ["-c", script, "unpack", ...debs], {
    env: { ...process.env, DIRECTORY: directory, EXCLUDE: ["./nothing", ...unwanted].join("\n") },
    timeoutMs: UNPACK_TIMEOUT_MS,
  });
  if (result.code !== 0)
    throw new StepFailure(
      `a Debian package could not be unpacked: ${reasonOf(result)}`,
      "check the free space of this disk, then run npm run setup again",
    );
}

/**
 * The mirrors that this machine is configured with for that release, or else the distribution's own.
 *
 * @param {(typeof DISTRIBUTIONS)["debian"]} distribution
 * @param {string} codename
 */
async function sourceLines(distribution, codename) {
  const listed = await run("apt-get", [
    "indextargets",
    "--format",
    "$(REPO_URI) $(RELEASE)",
    "Created-By: Packages",
  ]);
  const configured = listed.stdout
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([uri = ""]) => distribution.repository.test(uri));
  const wanted = [codename, `${codename}-updates`, `${codename}-security`];
  const targets = configured.filter(([, release = ""]) => wanted.includes(release));
  const mirror = configured.find(([uri = ""]) => !uri.includes("security"))?.[0] ?? distribution.mirror;
  if (!targets.some(([, release]) => release === codename)) targets.unshift([mirror, codename]);
  const lines = targets.map(
    ([uri, release]) =>
      `deb [signed-by=${distribution.keyring}] ${uri} ${release} ${distribution.components.join(" ")}\n`,
  );
  return [...new Set(lines)].join("");
}

/**
 * A whole apt configuration: the system's own files are not read (their hooks clean caches and wake
 * daemons), but its proxies and credentials for fetching are taken over.
 *
 * @param {string} directory
 */
async function configuration(directory) {
  const system = await run("apt-config", ["dump", "Acquire"]);
  const fetching = system.stdout.split("\n").filter((line) => /^Acquire::https?::/.test(line));
  const settings = {
    "Dir::Etc::main": "/dev/null",
    "Dir::Etc::Parts": "/dev/null",
    "Dir::Etc::SourceList": path.join(directory, "sources.list"),
    "Dir::Etc::SourceParts": "/dev/null",
    "Dir::Etc::Preferences": "/dev/null",
    "Dir::Etc::PreferencesParts": "/dev/null",
    "Dir::State": directory,
    "Dir::State::Lists": path.join(directory, "lists"),
    "Dir::State::status": path.join(directory, "status"),
    "Dir::Cache": path.join(directory, "cache"),
    // The user _apt cannot read below a private home; the archive's signature protects the packages.
    "APT::Sandbox::User": "root",
    "Acquire::Languages": "none",
    "Acquire::Retries": "2",
    "Acquire::http::Timeout": "20",
    "Acquire::https::Timeout": "20",
    "Debug::NoLocking": "true",
  };
  const lines = Object.entries(settings).map(([key, value]) => `${key} "${value}";`);
  return `${[...fetching, ...lines].join("\n")}\n`;
}
