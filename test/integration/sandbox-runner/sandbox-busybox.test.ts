/** An image of BusyBox alone, whose tools read ahead: with the sealed supervisor sent to it, and with the plain one. */
import { collectBounds } from "../../../services/sandbox-runner/src/job-limits.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeCertificates } from "../../../services/sandbox-runner/src/jobs/egress-environment.ts";
import { DockerProvider } from "../../../services/sandbox-runner/src/providers/docker/docker-provider.ts";
import type { Sandbox } from "../../../services/sandbox-runner/src/ports.ts";
import { sandboxConformance } from "../../../services/sandbox-runner/src/testing/conformance.ts";
import { makeBusyboxImage } from "../../support/busybox-image.ts";
import { sandboxImage, shell, testEngine } from "../../support/docker.ts";
import type { MinimalImage } from "../../support/minimal-image.ts";
import { isNight } from "../../support/night.ts";
import { patient } from "../../support/patience.ts";

const test = testEngine("busybox");
const over = { kind: "canceled", reason: "test over" } as const;
let image: MinimalImage;
let serial = 0;
/** Set up as in a runner: with an image to take the sealed supervisor from. */
let giving: DockerProvider;
/** Without such an image. */
const alone = new DockerProvider({
  engine: test.engine,
  newName: () => `${test.instance}-a${(serial += 1)}`,
});

beforeAll(async () => {
  image = await makeBusyboxImage("busybox");
  const facts = await test.provider.image(sandboxImage());
  if (facts === null) throw new Error("no sandbox image");
  giving = new DockerProvider({
    engine: test.engine,
    newName: () => `${test.instance}-g${(serial += 1)}`,
    ownImage: facts.id,
  });
}, patient(300_000));
afterAll(() => {
  image.remove();
});

const leftovers = async (): Promise<string[]> => (await test.containers()).map(({ name }) => name);

if (isNight) {
  sandboxConformance("BusyBox with the sealed supervisor sent to it", {
    provider: () => giving,
    order: (limits) => test.order(limits, image.id),
    leftovers,
  });

  sandboxConformance("BusyBox alone", {
    provider: () => alone,
    order: (limits) => test.order(limits, image.id),
    leftovers,
  });
}

async function inAlone<T>(use: (sandbox: Sandbox) => Promise<T>): Promise<T> {
  const sandbox = await alone.start(await test.order({ tmpBytes: 4 * 1024 * 1024 }, image.id));
  try {
    expect(sandbox.sealed).toBe(false);
    return await use(sandbox);
  } finally {
    await sandbox.destroy(over);
  }
}

describe("the plain supervisor in an image whose head reads ahead", () => {
  it("really has such a head: the next reader does not get the bytes that it read ahead", () =>
    inAlone(async (sandbox) => {
      const script = "printf 'one\\ntwo\\n' | (head -c 4; cat)";
      expect((await sandbox.run(shell(script))).stdout.bytes.toString()).toBe("one\n");
    }));

  it("takes one frame at a time, so that nothing sent is lost", () =>
    inAlone(async (sandbox) => {
      const pieces = Array.from({ length: 100 }, (_, i) => Buffer.from(`${i}\n`.repeat(i + 1)));
      for (let round = 0; round < 3; round += 1) {
        const stdin = (async function* () {
          for (const piece of pieces) yield await Promise.resolve(piece);
        })();
        const exit = await sandbox.run(shell("cat", { stdin }));
        expect(exit.stdout.bytes.equals(Buffer.concat(pieces))).toBe(true);
        expect((await sandbox.run(shell(`exit ${round}`))).exitCode).toBe(round);
      }
    }));

  it("takes out what the code closed to its own user", () =>
    inAlone(async (sandbox) => {
      await sandbox.run(shell("mkdir -p d/e; echo x > d/e/f; chmod 000 d/e/f d/e; chmod 500 d"));
      const { files } = await sandbox.collect(new Map(), collectBounds());
      expect(files.map(({ path, content }) => [path, content.toString()])).toEqual([["d/e/f", "x\n"]]);
    }));

  it("has the gateway's certificates as they are: its printf writes every byte, and a zero", () =>
    inAlone(async (sandbox) => {
      const store = Buffer.from(Array.from({ length: 1024 }, (_, i) => i % 256));
      const [shellOf = "", ...rest] = writeCertificates(store);
      const written = await sandbox.run({
        ...shell("", { stdin: Buffer.from("PEM\n") }),
        argv: [shellOf, ...rest],
      });
      expect(written.exitCode).toBe(0);
      const { stdout } = await sandbox.run(shell("cat /tmp/.antiphon-ca.pem /tmp/.antiphon-ca.jks"));
      expect(stdout.bytes.equals(Buffer.concat([Buffer.from("PEM\n"), store]))).toBe(true);
    }));

  it("ends with a named reason when the input does not fit in /tmp, and runs none of it", () =>
    inAlone(async (sandbox) => {
      const stdin = Buffer.alloc(8 * 1024 * 1024, "x 000000001\n");
      const ended = await sandbox.run(shell("echo ran", { stdin })).catch((error: unknown) => error);
      expect(ended).toMatchObject({
        death: { kind: "protocol", message: expect.stringContaining("no room in /tmp") as string },
      });
    }));
});
