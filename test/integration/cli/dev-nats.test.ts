/** The permissions of the nats-server of `antiphon dev`. */
import type { ChildProcess } from "node:child_process";
import { connect } from "nats";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { natsConfig } from "../../../cli/src/dev/nats-config.ts";
import { endOf, launch, onFreePorts } from "../../support/nats.ts";
import { cleanUpRepos, tempDir } from "../../support/repo.ts";

let server: ChildProcess;
let servers: string;

beforeAll(async () => {
  const dir = tempDir();
  const file = join(dir, "nats.conf");
  [server] = await onFreePorts(1, async ([port = 0]) => {
    const options = { port, portsDir: dir, pidFile: join(dir, "nats.pid"), storeDir: join(dir, "store") };
    writeFileSync(file, natsConfig(options));
    servers = `nats://127.0.0.1:${port}`;
    return launch(file, port);
  });
});

afterAll(async () => {
  await endOf(server, "SIGKILL");
  cleanUpRepos();
});

describe("the nats-server of antiphon dev", () => {
  it.each(["sys", "SYS", "admin"])("refuses to sign in %s", async (name) => {
    await expect(connect({ servers, user: name, pass: name, reconnect: false })).rejects.toThrow(
      /Authorization/,
    );
  });

  it("answers every client about its sync setting, and nothing else of the system account", async () => {
    const nc = await connect({ servers });
    try {
      const said = await nc.request("$SYS.REQ.SERVER.PING.JSZ", '{"config":true}', { timeout: 2000 });
      expect(said.json()).toMatchObject({ data: { config: { sync_always: true } } });
      await expect(nc.request("$SYS.REQ.SERVER.PING.VARZ", "", { timeout: 2000 })).rejects.toThrow(
        /no responders/i,
      );
    } finally {
      await nc.close();
    }
  });
});
