#!/usr/bin/env node
// Builds the service images without an image registry, so that deploy/compose can be tried anywhere. It uses
// deploy/images/service/Dockerfile with a bundle built here, on a stand-in for the base image made of Debian packages and
// Node from npm's registry. It also builds antiphon-nats, from the nats-server of set-up, and with --with-engine
// antiphon-engine, a stand-in for docker:dind.
// Usage: node deploy/images/build-offline.mjs [tag] [--with-engine]   (default dev; run `npm run setup` first)
import { copyFile, cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { argv, exit } from "node:process";

import { contentHash, ROOT, TOOLS_DIR, workDirectory } from "../../setup/checkout.mjs";
import { reasonOf, run } from "../../setup/command.mjs";
import { buildImage, engineAddress, imageId, importImage, tagImage } from "../../setup/docker-api.mjs";
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

/** What a Docker engine needs beside them. */
const ENGINE_PACKAGES = ["containerd", "docker.io", "grep", "iptables", "mount", "procps", "runc", "sed"];
/** As docker:dind does: the engine's own processes leave the root of the cgroup, or no container can be limited. */
const ENGINE_START = `#!/bin/bash
set -eu
ln -sf iptables-legacy /usr/sbin/iptables
ln -sf ip6tables-legacy /usr/sbin/ip6tables
if [ -f /sys/fs/cgroup/cgroup.controllers ]; then
  mkdir -p /sys/fs/cgroup/init
  while read -r pid; do echo "$pid" >/sys/fs/cgroup/init/cgroup.procs || true; done </sys/fs/cgroup/cgroup.procs
  sed -e 's/ / +/g' -e 's/^/+/' /sys/fs/cgroup/cgroup.controllers >/sys/fs/cgroup/cgroup.subtree_control
fi
exec "$@"
`;
const PATH = "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The stand-in for the Node image of a Dockerfile: Node from npm's registry on Debian's packages. */
const nodeImage = (address, note) =>
  debianImage(address, note, { name: "antiphon-node", packages: PACKAGES, changes: [PATH, 'CMD ["node"]'] });

/** The stand-in for docker:dind, under a tag that a manifest can name. */
async function engineImage(address, note, tag) {
  const made = await debianImage(address, note, {
    name: "antiphon-engine",
    packages: [...PACKAGES, ...ENGINE_PACKAGES],
    changes: [PATH, 'ENTRYPOINT ["bash", "/usr/local/bin/engine-start"]', 'CMD ["dockerd"]'],
    extend: (tree) => writeFile(path.join(tree, "usr/local/bin/engine-start"), ENGINE_START),
    texts: [ENGINE_START],
  });
  await tagImage(address, made.ref, { repository: "antiphon-engine", tag });
  return { ...made, detail: `antiphon-engine:${tag}` };
}

async function debianImage(address, note, { name, packages, changes, extend, texts = [] }) {
  const source = path.join(ROOT, "setup/sandbox-rootfs.mjs");
  const inputs = [NODE_VERSIONS, process.arch, ...packages, ...texts];
  const hash = await contentHash({ texts: inputs, paths: [source] });
  const ref = `${name}:${hash}`;
  if ((await imageId(address, ref)) !== null) return { outcome: "present", detail: ref, ref };
  const directory = await workDirectory(name);
  try {
    const tarFile = path.join(directory, "image.tar");
    await buildRootfs({ packages, directory, tarFile, note, ...(extend === undefined ? {} : { extend }) });
    await importImage(address, { repository: name, tag: hash, tarFile, changes });
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
  const [tag = "dev"] = argv.slice(2).filter((word) => word !== "--with-engine");
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
    if (argv.includes("--with-engine"))
      await report.step("image engine", ({ note }) => engineImage(address, note, tag));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return report.finish();
}

exit(await main());
