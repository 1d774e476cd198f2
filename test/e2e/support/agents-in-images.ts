/** Runs of agents in images that lack what their programs need, whose checks are no programs of npm. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { sandboxImage } from "../../support/docker.ts";
import type { AgentStack } from "./agent-stack.ts";
import type { Ended } from "./agents-with-models.ts";
import { packOfPyPI } from "./pack-of-pypi.ts";
import { FIX, type Project } from "./project.ts";

/** What the model wants of agents in images: which Node its commands get, and the fix. */
export const WANTS = `node --version; ${FIX}`;

/** Prints the version of the Python that it gets, and those variables which would change what another one loads. */
export const WHICH_PYTHON = [
  `python3 -c 'import os, sys; found = sorted({"LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH"} & {*os.environ});`,
  `print("It is 3." + str(sys.version_info.minor), found)'`,
].join(" ");

export const GREP = "grep -q 'a + b' add.js";

/** A run in the image; `more` takes the place of the check by `GREP`. */
export function ranIn(
  agents: AgentStack,
  image: string,
  repo: Project,
  agent: string,
  ...more: readonly string[]
): Promise<Ended> {
  const check = more.length === 0 ? ["--check", GREP] : more;
  return agents.fixed(repo, agent, "--no-setup", "--image", image, ...check);
}

export async function landsIn(agents: AgentStack, image: string, agent: string): Promise<string> {
  const repo = agents.project();
  const { runId, ...ended } = await ranIn(agents, image, repo, agent);
  expect(ended).toMatchObject({ status: "succeeded", code: null });
  expect(repo.landed(runId)).toHaveLength(1);
  return runId;
}

export function pythonIn(image: string): string {
  const words = ["run", "--rm", "--network", "none", image, "sh", "-c", WHICH_PYTHON];
  return execFileSync("docker", words, { encoding: "utf8" }).trim();
}

/** An agent of PyPI brings its Python, and its commands get that of the image, if there is one. @param command ends with the fix */
export async function bringsItsPython(agents: AgentStack, image: string, command: string): Promise<void> {
  const hasOther = command !== FIX;
  const theirs = hasOther ? pythonIn(image) : "";
  const own = pythonIn(sandboxImage());
  if (hasOther) expect(theirs).toMatch(/^It is 3\.\d+ \[\]$/);
  expect(theirs).not.toBe(own); // Otherwise this shows nothing.
  const check = hasOther ? `${GREP} && test "$(${WHICH_PYTHON})" = "${theirs}"` : GREP;
  const repo = agents.project();
  const pack = packOfPyPI(agents.directory, command);
  const { runId, ...ended } = await ranIn(agents, image, repo, pack, "--check", check);
  expect(ended, JSON.stringify(ended)).toMatchObject({ status: "succeeded", code: null });
  expect(repo.landed(runId)).toHaveLength(1);
  const { stdout } = await agents.stack.antiphon(["logs", "--transcript", runId]);
  expect(stdout).toContain(`${own.replace("It is", "mine is").replace(" []", "")}, with &lt;`);
  expect(stdout).toContain(theirs);
}

/** `pi`, which says that it needs `bash`. */
export function piWithBash({ directory }: AgentStack): string {
  const folder = mkdtempSync(join(directory, "pi-"));
  cpSync(join(import.meta.dirname, "../../../agents/pi"), folder, { recursive: true });
  const file = join(folder, "agent.yaml");
  writeFileSync(file, `${readFileSync(file, "utf8")}needs: [bash]\n`);
  return folder;
}

export async function isRefusedWithout(
  agents: AgentStack,
  image: string,
  pack: string,
  program: string,
): Promise<void> {
  const heard = agents.stub.heard.length;
  const { code, message } = await ranIn(agents, image, agents.project(), pack);
  expect(code).toBe("ANT_ENVIRONMENT_FAILED");
  expect(message).toContain(`the image has no ${program}`);
  expect(agents.stub.heard).toHaveLength(heard);
}
