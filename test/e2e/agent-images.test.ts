/** Agents in an image that lacks all that their programs need: BusyBox, without Node, npm, Python, bash and a C library. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeBusyboxImage } from "../support/busybox-image.ts";
import type { MinimalImage } from "../support/minimal-image.ts";
import { startAgentStack, type AgentStack } from "./support/agent-stack.ts";
import { INSTALL_MS } from "./support/agents-with-models.ts";
import { bringsItsPython, isRefusedWithout, landsIn, piWithBash, WANTS } from "./support/agents-in-images.ts";
import { FIX } from "./support/project.ts";

let agents: AgentStack;
let image: MinimalImage;

beforeAll(async () => {
  image = await makeBusyboxImage("packs-busybox");
  agents = await startAgentStack({ wants: WANTS });
  await agents.stack.antiphon(["images", "allow", image.ref]);
});
afterAll(async () => {
  await agents.stack.antiphon(["images", "disallow", image.ref]);
  await agents.stop();
  image.remove();
});

test(
  "pi brings what it runs with and the C library, fixes a repository, and the fix lands",
  async () => {
    const runId = await landsIn(agents, image.ref, "pi");
    const log = ["evidence", "get", runId, "T-001", "1", "environment/agent/setup.log"];
    expect((await agents.stack.antiphon(log)).stdout).toMatch(/^\$ mkdir -p [^]*npm ci/);
  },
  INSTALL_MS,
);

test(
  "an agent of PyPI with a lock brings its Python and the C library, and its commands get what is there",
  () => bringsItsPython(agents, image.ref, FIX),
  INSTALL_MS,
);

test(
  "a copy of pi is refused before its first attempt without a program that it needs, with the reason",
  () => isRefusedWithout(agents, image.ref, piWithBash(agents), "bash"),
  INSTALL_MS,
);
