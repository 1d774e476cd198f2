#!/usr/bin/env node
// `npm run setup`, or `antiphon setup`: provides everything that Antiphon needs on this machine, and skips what exists.
// It is plain Node without dependencies, because it runs before node_modules exists. Each step has a file of its own.
import { argv, exit, stdout } from "node:process";

import { ensureBubblewrap } from "./bubblewrap.mjs";
import { ensureBusybox } from "./busybox.mjs";
import { IS_CHECKOUT } from "./checkout.mjs";
import { ensureDockerEngine } from "./docker-engine.mjs";
import { ensureGit } from "./git-program.mjs";
import { removeOwnCompiler } from "./go-program.mjs";
import { ensureNatsServer } from "./nats-server.mjs";
import { ensureNpmPackages } from "./npm-packages.mjs";
import { ensureCompose, ensureKubectl, ensureNatsCli, ensurePromtool } from "./operator-tools.mjs";
import { ensurePowerDisk } from "./power-disk.mjs";
import { createReport } from "./report.mjs";
import { ensureSandboxImage } from "./sandbox-image.mjs";
import { takeLock } from "./setup-lock.mjs";
import { ensureTestPrograms } from "./test-programs.mjs";
import { ensureToolchainImage, toolchainNames } from "./toolchain-image.mjs";

const HELP = `usage: npm run setup [-- <options>]

Installs everything that Antiphon needs on this machine, and skips what exists.

  git              found, or installed (Debian/Ubuntu as root)
  npm packages     npm ci, when node_modules does not match package-lock.json
  nats-server      >= 2.15: NATS_SERVER_BIN, PATH, a pinned release, Debian, Go source
  docker engine    DOCKER_HOST or /var/run/docker.sock; otherwise installed and started (Debian/Ubuntu as root)
  sandbox image    from its Dockerfile, or from Debian packages if no image registry answers

options:
  --with-nats-cli  also the stock nats command line (built with Go)
  --with-kubectl   also kubectl
  --with-promtool  also Prometheus' promtool
  --with-compose   also Compose v2, which Debian 12 does not have
  --with-bubblewrap  also bubblewrap, for sandboxes without an engine (Debian/Ubuntu as root)
  --for-tests      all of these, ssh-keygen, ip, perlcritic, shellcheck, chromium, busybox, power-disk: everything for npm test
  --only-image     the docker engine and the sandbox image, nothing else
  --toolchains=<a,b>  an image with these toolchains, nothing else: go, rust, java, ruby, php, cpp, postgres, redis
  --json           one JSON object on stdout, nothing else
  --help           this text

State is kept in .antiphon/ (ANTIPHON_STATE_DIR). Exit code 0 done, 1 a step failed, 2 usage.
`;
const OPTIONS = [
  "--only-image",
  "--with-nats-cli",
  "--with-kubectl",
  "--with-promtool",
  "--with-compose",
  "--with-bubblewrap",
  "--for-tests",
  "--json",
  "--help",
];

const TOOLCHAINS_OPTION = "--toolchains=";

async function main() {
  const options = argv.slice(2);
  const toolchains = options.find((option) => option.startsWith(TOOLCHAINS_OPTION));
  const unknown = options.find((option) => !OPTIONS.includes(option) && option !== toolchains);
  if (unknown !== undefined) {
    console.error(`setup: unknown option ${unknown} (see --help)`);
    return 2;
  }
  if (options.includes("--help")) {
    stdout.write(HELP);
    return 0;
  }
  const has = (...names) => names.some((name) => options.includes(name));
  const report = createReport({ json: has("--json") });
  const lock = await report.step("lock", takeLock, { silent: true });
  if (!lock.ok) return report.finish();
  const release = lock.value;
  try {
    if (toolchains !== undefined) await toolchainImage(report, toolchains.slice(TOOLCHAINS_OPTION.length));
    else await (has("--only-image") ? engineAndImage(report) : setUp(report, has));
  } finally {
    release();
  }
  return report.finish();
}

/** Git first, since npm may need it; then the rest side by side, the image after its engine. */
async function setUp(report, has) {
  await report.step("git", ensureGit);
  if (has("--for-tests")) await report.step("test programs", ensureTestPrograms);
  await Promise.all([
    IS_CHECKOUT ? report.step("npm packages", ensureNpmPackages) : null,
    natsAndGoPrograms(report, has),
    engineAndImage(report),
    has("--with-bubblewrap", "--for-tests") ? report.step("bubblewrap", ensureBubblewrap) : null,
    has("--with-kubectl", "--for-tests") ? report.step("kubectl", ensureKubectl) : null,
    has("--with-compose", "--for-tests") ? report.step("docker-compose", ensureCompose) : null,
    has("--with-promtool", "--for-tests") ? report.step("promtool", ensurePromtool) : null,
    has("--for-tests") ? report.step("busybox", ensureBusybox) : null,
  ]);
}

/** One after the other: programs built from Go source share a compiler, which is removed when all are built. */
async function natsAndGoPrograms(report, has) {
  const steps = [await report.step("nats-server", ensureNatsServer)];
  if (has("--with-nats-cli", "--for-tests"))
    steps.push(await report.step("nats command line", ensureNatsCli));
  if (has("--for-tests")) steps.push(await report.step("power-disk", ensurePowerDisk));
  if (steps.every(({ ok }) => ok)) await removeOwnCompiler();
}

async function engineAndImage(report) {
  const engine = await report.step("docker engine", ensureDockerEngine);
  if (!engine.ok) return;
  const { address } = engine.value;
  await report.step("sandbox image", ({ note }) => ensureSandboxImage({ address, note }));
}

/** @param {import("./report.mjs").Report} report @param {string} list */
async function toolchainImage(report, list) {
  const names = await report.step("toolchains", async () => toolchainNames(list), { silent: true });
  if (!names.ok) return;
  const engine = await report.step("docker engine", ensureDockerEngine);
  if (!engine.ok) return;
  const { address } = engine.value;
  await report.step("toolchain image", ({ note }) =>
    ensureToolchainImage({ address, names: names.value, note }),
  );
}

exit(await main());
