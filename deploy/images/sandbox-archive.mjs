#!/usr/bin/env node
// Makes antiphon-sandbox-archive: an image that holds the sandbox image of set-up as an archive, for a cluster without a
// registry (deploy/k8s/components/sandbox-archive). Its base is the sandbox-runner's image, which the cluster has anyway.
// Usage: node deploy/images/sandbox-archive.mjs [tag]   (default dev; make antiphon-sandbox-runner:<tag> first)
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { argv, exit } from "node:process";

import { STATE_DIR, workDirectory } from "../../setup/checkout.mjs";
import { reasonOf, run } from "../../setup/command.mjs";
import {
  buildImage,
  engineAddress,
  imageId,
  saveImage,
  tagImage,
  untagImage,
} from "../../setup/docker-api.mjs";
import { ensureDockerEngine } from "../../setup/docker-engine.mjs";
import { createReport } from "../../setup/report.mjs";
import { StepFailure } from "../../setup/step-failure.mjs";

const DOCKERFILE = `ARG RUNNER_IMAGE
FROM \${RUNNER_IMAGE}
COPY sandbox.tar /archive/sandbox.tar
ENTRYPOINT []
CMD ["cp", "/archive/sandbox.tar", "/images/"]
`;

/** The sandbox image of set-up. */
async function builtImage(address) {
  const file = path.join(STATE_DIR, "image.json");
  const { ref } = JSON.parse(
    await readFile(file, "utf8").catch(() => {
      throw new StepFailure("no sandbox image was built here", "npm run setup");
    }),
  );
  if ((await imageId(address, ref)) === null)
    throw new StepFailure(`the engine does not have ${ref}`, "npm run setup");
  return ref;
}

async function makeArchive(address, tag) {
  const runner = `antiphon-sandbox-runner:${tag}`;
  if ((await imageId(address, runner)) === null)
    throw new StepFailure(
      `the engine does not have ${runner}`,
      "build the services' images first: docs/guides/deploy.md",
    );
  const built = await builtImage(address);
  const directory = await workDirectory("sandbox-archive");
  const context = path.join(directory, "context");
  const named = { repository: "antiphon-sandbox", tag };
  try {
    await mkdir(context);
    // The archive keeps this name, so that manifests need no hash.
    await tagImage(address, built, named);
    try {
      await saveImage(address, `antiphon-sandbox:${tag}`, path.join(context, "sandbox.tar"));
    } finally {
      await untagImage(address, `antiphon-sandbox:${tag}`);
    }
    await writeFile(path.join(context, "Dockerfile"), DOCKERFILE);
    const tarFile = path.join(directory, "context.tar");
    const packed = await run("tar", ["-cf", tarFile, "-C", context, "."]);
    if (packed.code !== 0)
      throw new StepFailure(`tar failed: ${reasonOf(packed)}`, "check the free disk space");
    const ref = `antiphon-sandbox-archive:${tag}`;
    await buildImage(address, { ref, tarFile, dockerfile: "Dockerfile", args: { RUNNER_IMAGE: runner } });
    return { outcome: "made", detail: `${ref}, with ${built} as antiphon-sandbox:${tag}` };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const [tag = "dev"] = argv.slice(2);
const report = createReport({ json: false });
const engine = await report.step("docker engine", ensureDockerEngine, { silent: true });
if (engine.ok) await report.step("sandbox archive", () => makeArchive(engineAddress(), tag));
exit(report.finish());
