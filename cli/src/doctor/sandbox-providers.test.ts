import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { readConfig } from "../config.ts";
import { providerStates, type ProviderState } from "./sandbox-providers.ts";

const NOWHERE = "/nonexistent";
const KEY = "e2b_0123456789abcdef";
const directories: string[] = [];

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

async function stateOf(name: ProviderState["name"], env: NodeJS.ProcessEnv): Promise<ProviderState> {
  const states = await providerStates(readConfig(NOWHERE, { PATH: NOWHERE, ...env }));
  const state = states.find((one) => one.name === name);
  if (state === undefined) throw new Error(`no row for ${name}`);
  return state;
}

/** A search path with an `msb` that gives these answers. */
function msb(version: string, doctor: { exits: number; says: string }): string {
  const directory = mkdtempSync(join(tmpdir(), "antiphon-msb-"));
  directories.push(directory);
  const script = `#!/bin/sh
case $1 in --version) echo '${version}' ;; doctor) echo '${doctor.says}'; exit ${doctor.exits} ;; esac
`;
  writeFileSync(join(directory, "msb"), script, { mode: 0o755 });
  return directory;
}

/** Runs `during` next to a service that answers every request with `status`; returns the keys it received. */
async function asService(status: number, during: (url: string) => Promise<void>): Promise<unknown[]> {
  const keys: unknown[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers["x-api-key"]);
    response.writeHead(status, { "content-type": "application/json" }).end("[]");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    await during(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return keys;
}

describe("e2b", () => {
  test("is missing without a key, and no request is sent", async () => {
    const keys = await asService(200, async (E2B_API_URL) => {
      const { missing, remedy } = await stateOf("e2b", { E2B_API_URL });
      expect(missing).toBe("no key: E2B_API_KEY is not set");
      expect(remedy).toContain("E2B_API_KEY");
    });
    expect(keys).toEqual([]);
  });

  test.each([
    [200, null, "takes the key"],
    [401, "refuses the key", ""],
    [503, "answers 503", ""],
  ])("whose service answers %i is told so, without the key", async (status, why, how) => {
    const keys = await asService(status, async (E2B_API_URL) => {
      const { missing, detail } = await stateOf("e2b", { E2B_API_URL, E2B_API_KEY: KEY });
      expect(missing).toEqual(why === null ? null : expect.stringContaining(why));
      expect(detail).toContain(how);
      expect(`${missing ?? ""}${detail}`).not.toContain(KEY);
    });
    expect(keys).toEqual([KEY]);
  });

  test("is missing if its service does not answer", async () => {
    let gone = "";
    await asService(200, (url) => Promise.resolve(void (gone = url)));
    const { missing } = await stateOf("e2b", { E2B_API_URL: gone, E2B_API_KEY: KEY });
    expect(missing).toBe(`${gone} does not answer`);
  });
});

describe("microsandbox", () => {
  test("is missing if msb is not installed", async () => {
    const { missing, remedy } = await stateOf("microsandbox", {});
    expect(missing).toMatch(/^msb is not installed/);
    expect(remedy).toContain("install msb");
  });

  test("is missing if msb belongs to another line of releases", async () => {
    const PATH = msb("msb 0.3.1", { exits: 0, says: "ok" });
    expect((await stateOf("microsandbox", { PATH })).missing).toBe("msb 0.3.1 is not msb 0.6.x");
  });

  test("is missing with msb's own reason if no machine boots", async () => {
    const says = "error: CPU virtualization is not available";
    const PATH = msb("msb 0.6.18", { exits: 1, says });
    expect((await stateOf("microsandbox", { PATH })).missing).toBe(says);
  });

  test("works if `msb doctor` succeeds", async () => {
    const PATH = msb("msb 0.6.18", { exits: 0, says: "ok" });
    const { missing, detail } = await stateOf("microsandbox", { PATH });
    expect([missing, detail]).toEqual([null, `msb 0.6.18 at ${PATH}/msb`]);
  });
});

test("bubblewrap is missing if it is not installed, and the remedy names its package", async () => {
  const { missing, remedy } = await stateOf("bubblewrap", {});
  expect(missing).toBe("not installed");
  expect(remedy).toContain("apt-get install bubblewrap");
});
