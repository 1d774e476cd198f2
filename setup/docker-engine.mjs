/**
 * Finds a Docker engine that answers: the one in DOCKER_HOST, the one at the usual socket, or, as root on Debian and Ubuntu,
 * one that it installs (docker.io) and starts. Elsewhere set-up only says what is missing; it installs only packages that
 * can be removed again.
 */
import { access } from "node:fs/promises";

import { run } from "./command.mjs";
import { engineAddress, ping } from "./docker-api.mjs";
import { hostDistribution } from "./debian-archive.mjs";
import { startDockerd } from "./dockerd.mjs";
import { canInstall, installHostPackages, isRoot } from "./host-packages.mjs";
import { StepFailure } from "./step-failure.mjs";

/**
 * @param {{note: (text: string) => void}} input
 * @returns {Promise<{outcome: "present" | "made", detail: string, address: import("./docker-api.mjs").EngineAddress}>}
 */
export async function ensureDockerEngine({ note }) {
  const address = engineAddress();
  const answer = await ping(address);
  if (answer.ok) return { outcome: "present", detail: `${answer.version} at ${address.label}`, address };
  if (!address.local)
    throw new StepFailure(
      `DOCKER_HOST names ${address.label}, where no engine answers (${answer.message})`,
      "start that engine, or unset DOCKER_HOST to use the one of this machine",
    );
  if (answer.code === "EACCES")
    throw new StepFailure(
      "a Docker engine runs here, but this user may not use /var/run/docker.sock",
      "sudo usermod -aG docker $USER, then log in again (or run as root)",
    );
  if (!isRoot()) throw new StepFailure("no Docker engine answers here", await remedyForUsers());

  if (!(await isInstalled("dockerd"))) {
    if (!(await canInstall()))
      throw new StepFailure("no Docker engine is installed", "see https://docs.docker.com/engine/install");
    await installHostPackages(["docker.io"], note);
    // Newer releases have the command line in a package of its own; an operator and some tests use it.
    if (!(await isInstalled("docker"))) await installHostPackages(["docker-cli"], note);
  }
  const version = (await startService(note)) ?? (await startDockerd(note));
  return { outcome: "made", detail: `${version} started at ${address.label}`, address };
}

/** Under a service manager, a second engine beside the managed one would conflict over the data. @param {(text: string) => void} note */
async function startService(note) {
  const managed = await access("/run/systemd/system").then(
    () => true,
    () => false,
  );
  if (!managed) return null;
  note("systemctl start docker");
  const started = await run("systemctl", ["start", "docker"], { timeoutMs: 90_000 });
  const answer = await ping(engineAddress(""));
  if (answer.ok) return answer.version;
  throw new StepFailure(
    `docker.service does not answer (systemctl start docker: exit ${started.code})`,
    "journalctl -u docker --no-pager | tail -20 says why",
  );
}

/** @param {string} program */
async function isInstalled(program) {
  const result = await run(program, ["--version"], {
    env: { ...process.env, PATH: `${process.env["PATH"] ?? ""}:/usr/local/sbin:/usr/sbin:/sbin` },
  });
  return result.code === 0;
}

async function remedyForUsers() {
  if (process.platform === "darwin")
    return "install Docker Desktop, OrbStack or colima and start it (or set DOCKER_HOST to its socket)";
  if (process.platform === "win32") return "run Antiphon inside WSL 2 with Docker Desktop's integration on";
  if ((await hostDistribution()) !== null)
    return "sudo apt-get install -y docker.io && sudo usermod -aG docker $USER, then log in again";
  return "install Docker (https://docs.docker.com/engine/install), sudo systemctl start docker, sudo usermod -aG docker $USER";
}
