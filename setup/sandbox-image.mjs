/**
 * Provides the image of every sandbox. Its name holds a hash of all its inputs, so it is built once and found again;
 * `.antiphon/image.json` names it for the sandbox-runner.
 *
 * It is built from the Dockerfile if an image registry answers, or else with the same tools from Debian packages and
 * Node from npm's registry (see sandbox-rootfs.mjs).
 */
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";

import { contentHash, ROOT, STATE_DIR, workDirectory } from "./checkout.mjs";
import { reasonOf, run } from "./command.mjs";
import { hostDistribution } from "./debian-archive.mjs";
import { buildImage, call, imageId, importImage, runOnce } from "./docker-api.mjs";
import { NODE_VERSIONS } from "./node-program.mjs";
import { buildRootfs, SANDBOX_UID } from "./sandbox-rootfs.mjs";
import { StepFailure } from "./step-failure.mjs";

const REPOSITORY = "antiphon-sandbox";
const REGISTRY = "https://registry-1.docker.io/v2/";
const REGISTRY_TIMEOUT_MS = 2_500;
/** Images of this name kept beside the current one, for checkouts at another commit. */
const KEPT_IMAGES = 3;

export const IMAGE_FILE = path.join(STATE_DIR, "image.json");
const SOURCES = path.join(ROOT, "deploy/images/sandbox");
const PACKAGES_FILE = path.join(SOURCES, "packages.txt");

/** The tools that every sandbox holds; an image without one of them is refused. */
const TOOLS = [
  "bash",
  "ls",
  "find",
  "grep",
  "sed",
  "tar",
  "git",
  "node",
  "npm",
  "python3",
  "perl",
  "make",
  "cc",
  "ps",
];

/** The Dockerfile ends in the same lines. */
export const CHANGES = [
  "ENV PATH=/usr/local/bin:/usr/bin:/bin",
  "ENV HOME=/workspace",
  "ENV LANG=C.UTF-8",
  "ENV GIT_PAGER=cat",
  "WORKDIR /workspace",
  `USER ${SANDBOX_UID}:${SANDBOX_UID}`,
  "LABEL org.antiphon.image=sandbox",
  'CMD ["bash"]',
];

/**
 * @param {{address: import("./docker-api.mjs").EngineAddress, note: (text: string) => void}} input
 * @returns {Promise<{outcome: "present" | "made", detail: string}>}
 */
export async function ensureSandboxImage({ address, note }) {
  const chosen = process.env["ANTIPHON_SANDBOX_IMAGE"];
  if (chosen !== undefined && chosen !== "") return useChosenImage(address, chosen);

  const ref = `${REPOSITORY}:${await imageHash()}`;
  const present = await imageId(address, ref);
  if (present !== null) {
    await writeImageFile({ ref, id: present });
    return { outcome: "present", detail: ref };
  }
  const builtFrom = await buildFromBestSource(address, ref, note);
  await checkTools(address, ref);
  const id = await imageId(address, ref);
  if (id === null) throw new Error(`the engine lost ${ref} right after making it`);
  await writeImageFile({ ref, id, builtFrom });
  await removeSuperseded(address).catch((/** @type {Error} */ error) =>
    note(`old images stay: ${error.message}`),
  );
  return { outcome: "made", detail: `${ref} (from ${builtFrom})` };
}

/** The name follows the image's sources, its node and this machine's release. */
async function imageHash() {
  const host = await hostDistribution();
  return contentHash({
    texts: [NODE_VERSIONS, process.arch, host === null ? process.platform : `${host.id} ${host.codename}`],
    paths: [SOURCES, path.join(ROOT, "setup/sandbox-rootfs.mjs"), path.join(ROOT, "setup/sandbox-image.mjs")],
  });
}

/**
 * @param {import("./docker-api.mjs").EngineAddress} address
 * @param {string} ref
 */
async function useChosenImage(address, ref) {
  const id = await imageId(address, ref);
  if (id === null)
    throw new StepFailure(
      `ANTIPHON_SANDBOX_IMAGE names ${ref}, which the engine does not have`,
      `docker pull ${ref}, or unset ANTIPHON_SANDBOX_IMAGE to build one`,
    );
  await writeImageFile({ ref, id, builtFrom: "environment" });
  return { outcome: /** @type {const} */ ("present"), detail: `${ref} (ANTIPHON_SANDBOX_IMAGE)` };
}

/**
 * @param {import("./docker-api.mjs").EngineAddress} address
 * @param {string} ref
 * @param {(text: string) => void} note
 */
async function buildFromBestSource(address, ref, note) {
  const directory = await workDirectory("sandbox-image");
  const tarFile = path.join(directory, "image.tar");
  try {
    if (await registryAnswers()) {
      note("building deploy/images/sandbox/Dockerfile");
      try {
        const packed = await run("tar", ["-cf", tarFile, "-C", SOURCES, "."]);
        if (packed.code !== 0) throw new Error(reasonOf(packed));
        await buildImage(address, { ref, tarFile, dockerfile: "Dockerfile" });
        return "dockerfile";
      } catch (error) {
        note(`the Dockerfile did not build (${firstLine(error)}); using Debian packages`);
      }
    } else note("no image registry answers; using Debian packages (about 110 MB)");
    await buildRootfs({
      packages: await packageNames(),
      directory,
      tarFile,
      note,
    });
    const [repository = "", tag = ""] = ref.split(":");
    await importImage(address, { repository, tag, tarFile, changes: CHANGES });
    return "debian-packages";
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

export async function packageNames() {
  const lines = (await readFile(PACKAGES_FILE, "utf8")).split("\n");
  return lines.map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#"));
}

async function registryAnswers() {
  try {
    const answer = await fetch(REGISTRY, { signal: AbortSignal.timeout(REGISTRY_TIMEOUT_MS) });
    return answer.status === 200 || answer.status === 401;
  } catch {
    return false; // After any failure to answer in time, build without the registry.
  }
}

/**
 * @param {import("./docker-api.mjs").EngineAddress} address
 * @param {string} ref
 */
async function checkTools(address, ref) {
  const script = `for tool in ${TOOLS.join(" ")}; do command -v $tool >/dev/null || echo "no $tool"; done
node --version >/dev/null || echo "node does not run"
[ "$(id -u)" = ${SANDBOX_UID} ] || echo "the user is $(id -u)"
find / -xdev -perm /6000 2>/dev/null`;
  const { output } = await runOnce(address, ref, ["bash", "-c", script]);
  const faults = output.trim();
  if (faults === "") return;
  await call(address, "DELETE", `/images/${ref}?force=1`);
  throw new StepFailure(
    `the sandbox image is not usable: ${faults.split(/\r?\n/).join(", ")}`,
    "run npm run setup again; if the fault stays, name another image in ANTIPHON_SANDBOX_IMAGE",
  );
}

/** @param {{ref: string, id: string, builtFrom?: string}} image */
async function writeImageFile(image) {
  const known = await readFile(IMAGE_FILE, "utf8").then(
    (text) => /** @type {{ref?: string, id?: string, builtFrom?: string}} */ (JSON.parse(text)),
    () => ({}),
  );
  if (known.ref === image.ref && known.id === image.id) return;
  await mkdir(STATE_DIR, { recursive: true });
  const builtFrom = image.builtFrom ?? "found in the engine";
  await writeFile(IMAGE_FILE, `${JSON.stringify({ ...image, builtFrom }, null, 2)}\n`);
}

/** Removes old images, which would pile up where the sources change often. @param {import("./docker-api.mjs").EngineAddress} address */
async function removeSuperseded(address) {
  const filters = encodeURIComponent(JSON.stringify({ label: ["org.antiphon.image=sandbox"] }));
  const { text } = await call(address, "GET", `/images/json?filters=${filters}`);
  const images = /** @type {{Id: string, Created: number}[]} */ (JSON.parse(text));
  const old = images.sort((a, b) => b.Created - a.Created).slice(KEPT_IMAGES);
  // Without force the engine itself refuses to remove an image that a container uses.
  for (const image of old) await call(address, "DELETE", `/images/${image.Id}`);
}

/** @param {unknown} error */
const firstLine = (error) => String(error instanceof Error ? error.message : error).split("\n")[0];
