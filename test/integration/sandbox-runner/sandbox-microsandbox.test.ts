/**
 * The microsandbox provider against a stand-in of its program, whose machines are containers (support/microsandbox).
 * `antiphon doctor` asks the real program; it boots nothing on a machine without virtualization.
 */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  MicrosandboxProvider,
  openMicrosandboxHost,
} from "../../../services/sandbox-runner/src/providers/microsandbox/microsandbox-provider.ts";
import { ownLabel } from "@antiphon/runtime";
import { sandboxConformance } from "../../../services/sandbox-runner/src/testing/conformance.ts";
import { sandboxImage, shell, SMALL, until } from "../../support/docker.ts";
import { msbStandIn, type MsbStandIn } from "../../support/microsandbox/stand-in.ts";

const OVER = { kind: "canceled", reason: "test over" } as const;
const instance = `test-msb-${process.pid}`;
let msb: MsbStandIn;
let provider: MicrosandboxProvider;

beforeAll(() => {
  msb = msbStandIn(sandboxImage());
  provider = new MicrosandboxProvider(options());
});
afterAll(() => msb.close());

const options = () => ({
  instance,
  path: msb.path,
  home: msb.home,
  image: msb.imageName,
  newName: () => `${instance}-${randomUUID().slice(0, 8)}`,
});
const order = (owner = ownLabel()) => ({
  imageId: msb.imageName,
  limits: SMALL,
  labels: { "antiphon.instance": instance, "antiphon.owner": owner },
});

sandboxConformance("microsandbox", {
  provider: () => provider,
  order: (limits) => Promise.resolve({ ...order(), limits: { ...SMALL, ...limits } }),
  leftovers: () => msb.containers(),
});

describe("microsandbox", () => {
  afterEach(async () => {
    msb.tell({});
    expect(
      await until(
        () => msb.containers(),
        (found) => found.length === 0,
        5_000,
      ),
    ).toEqual([]);
  });

  it("refuses and removes, before its first command, a machine whose record allows egress", async () => {
    msb.tell({ SAYS_NET: "allow" });
    await expect(provider.start(order())).rejects.toMatchObject({ code: "ANT_SANDBOX_REFUSED" });
  });

  it("gives the reason why no machine boots here, before a job is taken", async () => {
    const open = (change: object) => openMicrosandboxHost({ ...options(), ...change }, order());
    msb.tell({ BOOTS: "no" });
    await expect(open({})).rejects.toMatchObject({
      code: "ANT_SANDBOX_PROVIDER",
      message: expect.stringMatching(/CPU virtualization is not available.*no vmx/) as string,
    });
    msb.tell({ RELEASE: "0.2.6" });
    await expect(open({})).rejects.toMatchObject({
      message: expect.stringContaining("not msb 0.6") as string,
    });
    msb.tell({});
    await expect(open({ path: "/nowhere" })).rejects.toMatchObject({
      message: expect.stringContaining("msb is not installed") as string,
    });
    await expect(open({ image: null })).rejects.toMatchObject({ code: "ANT_SANDBOX_IMAGE_MISSING" });
    await expect(open({ image: "other" })).rejects.toMatchObject({
      code: "ANT_SANDBOX_FAILED",
      message: expect.stringContaining("image not found") as string,
    });
  });

  it("removes the machines of a dead runner at the next start, and keeps those of a living one", async () => {
    const [boot = "", namespace = ""] = ownLabel().split("/");
    const orphan = await provider.start(order(`${boot}/${namespace}/${process.pid}/1`));
    const held = await provider.start(order());
    await provider.sweep();
    await orphan.gone;
    expect(await msb.containers()).toHaveLength(1);
    expect((await held.run(shell("true"))).exitCode).toBe(0);
    await held.destroy(OVER);
  });

  it("gives the reason why a machine was not removed, and reports its end after the removal", async () => {
    const sandbox = await provider.start(order());
    msb.tell({ REMOVES: "no" });
    await expect(sandbox.destroy(OVER)).rejects.toMatchObject({
      code: "ANT_SANDBOX_FAILED",
      message: expect.stringContaining("is locked") as string,
    });
    expect(await msb.containers()).toHaveLength(1);
    msb.tell({});
    await sandbox.gone;
    expect(await msb.containers()).toEqual([]);
  });
});
