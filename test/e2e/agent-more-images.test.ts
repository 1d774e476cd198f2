/** All agents in all images that lack something: BusyBox, a shell and little else, musl with a Node of its own, another Python. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeBusyboxImage, makeMuslImage } from "../support/busybox-image.ts";
import { makeMinimalImage, type MinimalImage } from "../support/minimal-image.ts";
import { startModelStub, type ModelStub } from "../support/model-stub.ts";
import { makeOtherBase, type OtherBase } from "../support/other-base.ts";
import { startAgentStack, type AgentStack } from "./support/agent-stack.ts";
import { EDIT, hostAt, INSTALL_MS } from "./support/agents-with-models.ts";
import {
  bringsItsPython,
  GREP,
  isRefusedWithout,
  landsIn,
  pythonIn,
  ranIn,
  WANTS,
  WHICH_PYTHON,
} from "./support/agents-in-images.ts";
import { FIX } from "./support/project.ts";

/** Wants to know which Python its commands get. */
const ELSEWHERE = "elsewhere.packs.example";

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
  withoutGlibc = await makeBusyboxImage("packs-more-busybox");
  withMusl = await makeMuslImage("packs-musl");
  other = await makeOtherBase();
  agents = await startAgentStack({
    more: [hostAt(elsewhere.port, "api.openai.com", ELSEWHERE)],
    wants: WANTS,
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

/** The program of the image that each cannot do without. */
const NEEDS = [
  ["gemini", "bash"],
  ["claude", "bash"],
  ["opencode-server", "git"],
] as const;

test.each([
  ...["pi", "codex", "opencode", "aider"].map((agent) => [agent, "little else", () => bare] as const),
  ...NEEDS.map(([agent, program]) => [agent, program, () => withMore] as const),
])(
  "%s brings what it runs with: in an image with a shell and %s, without node, npm and python, it fixes a repository, and the fix lands",
  async (agent, _has, image) => {
    const runId = await landsIn(agents, image().ref, agent);
    const log = ["evidence", "get", runId, "T-001", "1", "environment/agent/setup.log"];
    expect((await agents.stack.antiphon(log)).stdout).toMatch(/^\$ mkdir -p [^]*(npm ci|--require-hashes)/);
  },
  INSTALL_MS,
);

test.each(["codex", "opencode", "mini-swe-agent", "aider"])(
  "%s brings the C library, so it works in an image of BusyBox alone",
  async (agent) => void (await landsIn(agents, withoutGlibc.ref, agent)),
  INSTALL_MS,
);

test.each(["pi", "claude", "codex", "gemini", "model", "opencode", "mini-swe-agent"])(
  "%s works in an image with musl and a Node of its own, as those of Alpine, which its commands and the checks get",
  async (agent) => {
    const version = "v22.20.0";
    const check = `node test.js && test "$(node --version)" = ${version}`;
    const repo = agents.project();
    const { runId, ...ended } = await ranIn(agents, withMusl.ref, repo, agent, "--check", check);
    expect(ended, JSON.stringify(ended)).toMatchObject({ status: "succeeded", code: null });
    expect(repo.landed(runId)).toHaveLength(1);
    const { stdout } = await agents.stack.antiphon(["logs", "--transcript", runId]);
    expect(stdout).toContain(version);
  },
  INSTALL_MS,
);

test(
  "an agent of PyPI with a lock brings its Python and the C library; in an image that has another Python its commands get that one",
  () => bringsItsPython(agents, other.id, `${WHICH_PYTHON} && ${FIX}`),
  INSTALL_MS,
);

test(
  "commands of mini-swe-agent and the checks get the image's Python, and no variable of the agent's own",
  async () => {
    const theirs = pythonIn(other.id);
    const check = ["--check", `${GREP} && test "$(${WHICH_PYTHON})" = "${theirs}"`];
    const model = ["--model", "m", "--model-host", ELSEWHERE];
    const words = [...check, ...model];
    const { runId, ...ended } = await ranIn(agents, other.id, agents.project(), "mini-swe-agent", ...words);
    expect(ended).toMatchObject({ status: "succeeded", code: null });
    const { stdout } = await agents.stack.antiphon(["logs", "--transcript", runId]);
    expect(stdout).toContain(theirs);
  },
  INSTALL_MS,
);

test.each(NEEDS)(
  "%s is refused before its first attempt in an image without %s, with the reason",
  (agent, program) => isRefusedWithout(agents, bare.ref, agent, program),
  INSTALL_MS,
);
