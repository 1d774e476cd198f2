#!/usr/bin/env node
// Builds the service images without an image registry, so that deploy/compose can be tried anywhere. It uses
// deploy/images/service/Dockerfile with a bundle built here, on a stand-in for the base image made of Debian packages and
// Node from npm's registry. It also builds antiphon-nats, from the nats-server of set-up.
// Usage: node deploy/images/build-offline.mjs [tag]   (default dev; run `npm run setup` first)
import { copyFile, cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { argv, exit } from "node:process";

import { contentHash, ROOT, TOOLS_DIR, workDirectory } from "../../setup/checkout.mjs";
import { reasonOf, run } from "../../setup/command.mjs";
import { buildImage, engineAddress, imageId, importImage } from "../../setup/docker-api.mjs";
import { ensureDockerEngine } from "../../setup/docker-engine.mjs";
import { NODE_VERSIONS } from "../../setup/node-program.mjs";
import { createReport } from "../../setup/report.mjs";
import { buildRootfs } from "../../setup/sandbox-rootfs.mjs";
import { StepFailure } from "../../setup/step-failure.mjs";

const ROLES = JSON.parse(await readFile(path.join(ROOT, "contracts/src/roles.json"), "utf8"));
const PACKAGES = [
  "base-files",
  "bash",
  "ca-certificates",
  "coreutils",
  "dash",
  "git",
  "libc-bin",
  "libstdc++6",
  "tzdata",
];
const NATS_DOCKERFILE = `ARG NODE_IMAGE
FROM \${NODE_IMAGE}
COPY nats-server /usr/local/bin/nats-server
RUN mkdir /data
ENTRYPOINT ["nats-server"]
`;

/** The stand-in for the Node image of a Dockerfile: Node from npm's registry on Debian's packages. */
async function nodeImage(address, note) {
  const source = path.join(ROOT, "setup/sandbox-rootfs.mjs");
  const hash = await contentHash({ texts: [NODE_VERSIONS, process.arch, ...PACKAGES], paths: [source] });
  const ref = `antiphon-node:${hash}`;
  if ((await imageId(address, ref)) !== null) return { outcome: "present", detail: ref, ref };
  const directory = await workDirectory("node-image");
  try {
    const tarFile = path.join(directory, "image.tar");
    await buildRootfs({ packages: PACKAGES, directory, tarFile, note });
    const changes = ["ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 'CMD ["node"]'];
    await importImage(address, { repository: "antiphon-node", tag: hash, tarFile, changes });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return { outcome: "made", detail: ref, ref };
}

async function packed(directory) {
  const tarFile = `${directory}.tar`;
  const result = await run("tar", ["-cf", tarFile, "-C", directory, "."]);
  if (result.code !== 0)
    throw new StepFailure(`tar failed: ${reasonOf(result)}`, "check the free disk space");
  return tarFile;
}

/** The files that the Dockerfile copies, with a dist/ built here. */
async function serviceContext(directory) {
  await mkdir(directory, { recursive: true });
  const build = await run("node", ["scripts/build.mjs", "--outdir", path.join(directory, "dist")], {
    cwd: ROOT,
  });
  if (build.code !== 0)
    throw new StepFailure(`the bundle failed: ${reasonOf(build)}`, "node scripts/build.mjs");
  for (const name of ["package.json", "LICENSE", "bin", "deploy/images/service/probe.mjs"])
    await cp(path.join(ROOT, name), path.join(directory, name), { recursive: true });
  await copyFile(path.join(ROOT, "deploy/images/service/Dockerfile"), path.join(directory, "Dockerfile"));
  return packed(directory);
}

async function natsContext(directory) {
  await mkdir(directory, { recursive: true });
  const binary = process.env["NATS_SERVER_BIN"] ?? path.join(TOOLS_DIR, "nats-server");
  await copyFile(binary, path.join(directory, "nats-server"));
  await writeFile(path.join(directory, "Dockerfile"), NATS_DOCKERFILE);
  return packed(directory);
}

async function main() {
  const [tag = "dev"] = argv.slice(2);
  const report = createReport({ json: false });
  const address = engineAddress();
  const engine = await report.step("docker engine", ensureDockerEngine);
  const node = engine.ok ? await report.step("node image", ({ note }) => nodeImage(address, note)) : engine;
  if (!node.ok) return report.finish();
  const args = { NODE_IMAGE: node.value.ref };
  const directory = await workDirectory("service-images");
  const made = async (name, tarFile, target) => {
    const ref = `antiphon-${name}:${tag}`;
    await buildImage(address, { ref, tarFile, dockerfile: "Dockerfile", args, target });
    return { outcome: "made", detail: ref };
  };
  try {
    const nats = await natsContext(path.join(directory, "nats"));
    await report.step("image nats", () => made("nats", nats, ""));
    const services = await report.step("bundle", () => serviceContext(path.join(directory, "service")), {
      silent: true,
    });
    if (services.ok)
      for (const { role } of ROLES)
        await report.step(`image ${role}`, () => made(role, services.value, role));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return report.finish();
}

exit(await main());
