/** Agents in images that lack what their programs need: no Node, no npm, no Python or another one, no C library. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeBusyboxImage, makeMuslImage } from "../support/busybox-image.ts";
import { sandboxImage } from "../support/docker.ts";
import { makeMinimalImage, type MinimalImage } from "../support/minimal-image.ts";
import { startModelStub, type ModelStub } from "../support/model-stub.ts";
import { atNight } from "../support/night.ts";
import { makeOtherBase, type OtherBase } from "../support/other-base.ts";
import { startAgentStack, type AgentStack } from "./support/agent-stack.ts";
import { EDIT, hostAt, INSTALL_MS, type Ended } from "./support/agents-with-models.ts";
import { packOfPyPI } from "./support/pack-of-pypi.ts";
import { FIX, type Project } from "./support/project.ts";

/** Wants to know which Python its commands get. */
const ELSEWHERE = "elsewhere.packs.example";

/** Prints the version of the Python that it gets, and those variables which would change what another one loads. */
const WHICH_PYTHON = [
  `python3 -c 'import os, sys; found = sorted({"LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH"} & {*os.environ});`,
  `print("It is 3." + str(sys.version_info.minor), found)'`,
].join(" ");

let agents: AgentStack;
let elsewhere: ModelStub;
let bare: MinimalImage;
let withMore: MinimalImage;
let withoutGlibc: MinimalImage;
let withMusl: MinimalImage;
let other: OtherBase;

beforeAll(async () => {
  elsewhere = await startModelStub(`${WHICH_PYTHON}; ${FIX}`, EDIT);
  bare = makeMinimalImage("packs-bare");
  withMore = makeMinimalImage("packs-more", [], {}, ["bash", "git"]);
  withoutGlibc = await makeBusyboxImage("packs-busybox");
  withMusl = await makeMuslImage("packs-musl");
  other = await makeOtherBase();
  agents = await startAgentStack({
    more: [hostAt(elsewhere.port, "api.openai.com", ELSEWHERE)],
    wants: `node --version; ${FIX}`,
    images: [other.id],
  });
  for (const { ref } of [bare, withMore, withoutGlibc, withMusl])
    await agents.stack.antiphon(["images", "allow", ref]);
});
afterAll(async () => {
  for (const { ref } of [bare, withMore, withoutGlibc, withMusl])
    await agents.stack.antiphon(["images", "disallow", ref]);
  await agents.stop();
  for (const image of [bare, withMore, withoutGlibc, withMusl]) image.remove();
  await elsewhere.close();
});

/** It is no check of npm, which the image has not. */
const GREP = "grep -q 'a + b' add.js";

const ran = (repo: Project, agent: string, image: string, ...more: string[]): Promise<Ended> => {
  const check = more.length === 0 ? ["--check", GREP] : more;
  return agents.fixed(repo, agent, "--no-setup", "--image", image, ...check);
};

const BARE = ["pi", ...atNight("codex", "opencode", "aider")];
/** The program of the image that each cannot do without. */
const NEEDS: readonly (readonly [agent: string, program: string])[] = [
  ["gemini", "bash"],
  ["claude", "bash"],
  ["opencode-server", "git"],
];

test.each([
  ...BARE.map((agent) => [agent, "little else", () => bare] as const),
  ...atNight(...NEEDS).map(([agent, program]) => [agent, program, () => withMore] as const),
])(
  "%s brings what it runs with: in an image with a shell and %s, without node, npm and python, it fixes a repository, and the fix lands",
  async (agent, _has, image) => {
    const repo = agents.project();
    const { runId, ...ended } = await ran(repo, agent, image().ref);
    expect(ended).toMatchObject({ status: "succeeded", code: null });
    expect(repo.landed(runId)).toHaveLength(1);
    const log = ["evidence", "get", runId, "T-001", "1", "environment/agent/setup.log"];
    expect((await agents.stack.antiphon(log)).stdout).toMatch(/^\$ mkdir -p [^]*(npm ci|--require-hashes)/);
  },
  INSTALL_MS,
);

test.each(["pi", ...atNight("codex", "opencode", "mini-swe-agent", "aider")])(
  "%s brings the C library, so it works in an image of BusyBox alone",
  async (agent) => {
    const repo = agents.project();
    const { runId, ...ended } = await ran(repo, agent, withoutGlibc.ref);
    expect(ended).toMatchObject({ status: "succeeded", code: null });
    expect(repo.landed(runId)).toHaveLength(1);
  },
  INSTALL_MS,
);

test.each(["pi", ...atNight("claude", "codex", "gemini", "model", "opencode", "mini-swe-agent")])(
  "%s works in an image with musl and a Node of its own, as those of Alpine, which its commands and the checks get",
  async (agent) => {
    const version = "v22.20.0";
    const check = `node test.js && test "$(node --version)" = ${version}`;
    const repo = agents.project();
    const { runId, ...ended } = await ran(repo, agent, withMusl.ref, "--check", check);
    expect(ended, JSON.stringify(ended)).toMatchObject({ status: "succeeded", code: null });
    expect(repo.landed(runId)).toHaveLength(1);
    const { stdout } = await agents.stack.antiphon(["logs", "--transcript", runId]);
    expect(stdout).toContain(version);
  },
  INSTALL_MS,
);

const pythonIn = (image: string): string => {
  const words = ["run", "--rm", "--network", "none", image, "sh", "-c", WHICH_PYTHON];
  return execFileSync("docker", words, { encoding: "utf8" }).trim();
};

test.each([
  ["has no glibc", () => withoutGlibc.ref, FIX],
  ["has another Python", () => other.id, `${WHICH_PYTHON} && ${FIX}`],
])(
  "an agent of PyPI with a lock brings its Python and the C library; in an image that %s its commands get what is there",
  async (_what, image, command) => {
    const hasOther = command !== FIX;
    const theirs = hasOther ? pythonIn(image()) : "";
    const own = pythonIn(sandboxImage());
    if (hasOther) expect(theirs).toMatch(/^It is 3\.\d+ \[\]$/);
    expect(theirs).not.toBe(own); // Otherwise this shows nothing.
    const check = hasOther ? `${GREP} && test "$(${WHICH_PYTHON})" = "${theirs}"` : GREP;
    const repo = agents.project();
    const { runId, ...ended } = await ran(
      repo,
      packOfPyPI(agents.directory, command),
      image(),
      "--check",
      check,
    );
    expect(ended, JSON.stringify(ended)).toMatchObject({ status: "succeeded", code: null });
    expect(repo.landed(runId)).toHaveLength(1);
    const { stdout } = await agents.stack.antiphon(["logs", "--transcript", runId]);
    expect(stdout).toContain(`${own.replace("It is", "mine is").replace(" []", "")}, with &lt;`);
    expect(stdout).toContain(theirs);
  },
  INSTALL_MS,
);

test.each(atNight("mini-swe-agent"))(
  "commands of %s and the checks get the image's Python, and no variable of the agent's own",
  async (agent) => {
    const theirs = pythonIn(other.id);
    const check = ["--check", `${GREP} && test "$(${WHICH_PYTHON})" = "${theirs}"`];
    const model = ["--model", "m", "--model-host", ELSEWHERE];
    const { runId, ...ended } = await ran(agents.project(), agent, other.id, ...check, ...model);
    expect(ended).toMatchObject({ status: "succeeded", code: null });
    const { stdout } = await agents.stack.antiphon(["logs", "--transcript", runId]);
    expect(stdout).toContain(theirs);
  },
  INSTALL_MS,
);

/** `pi`, which says that it needs `bash`. */
function piWithBash(): string {
  const folder = mkdtempSync(join(agents.directory, "pi-"));
  cpSync(join(import.meta.dirname, "../../agents/pi"), folder, { recursive: true });
  const file = join(folder, "agent.yaml");
  writeFileSync(file, `${readFileSync(file, "utf8")}needs: [bash]\n`);
  return folder;
}

test.each([
  ["a copy of pi", piWithBash, "bash"] as const,
  ...atNight(...NEEDS).map(([agent, program]) => [agent, () => agent, program] as const),
])(
  "%s is refused before its first attempt in an image without a program that it needs, with the reason",
  async (_agent, pack, program) => {
    const heard = agents.stub.heard.length;
    const { code, message } = await ran(agents.project(), pack(), bare.ref);
    expect(code).toBe("ANT_ENVIRONMENT_FAILED");
    expect(message).toContain(`the image has no ${program}`);
    expect(agents.stub.heard).toHaveLength(heard);
  },
  INSTALL_MS,
);
