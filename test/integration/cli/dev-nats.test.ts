/** The permissions of the nats-server of `antiphon dev`. */
import type { ChildProcess } from "node:child_process";
import { connect } from "nats";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { natsConfig } from "../../../cli/src/dev/nats-config.ts";
import { makeUsers } from "../../../cli/src/nats/nats-users.ts";
import { endOf, launch, onFreePorts } from "../../support/nats.ts";
import { cleanUpRepos, tempDir } from "../../support/repo.ts";

let server: ChildProcess;
let servers: string;

beforeAll(async () => {
  const dir = tempDir();
  const file = join(dir, "nats.conf");
  [server] = await onFreePorts(1, async ([port = 0]) => {
    const { keys } = makeUsers(join(dir, "users"));
    const files = { portsDir: dir, pidFile: join(dir, "nats.pid"), storeDir: join(dir, "store") };
    const options = { port, ...files, keys, partitions: 1 };
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
  it("lets a client without credentials read, and refuses what it writes", async () => {
    const nc = await connect({ servers });
    try {
      const info = await nc.request("$JS.API.STREAM.NAMES", "", { timeout: 2000 });
      expect(info.json()).toMatchObject({ total: 0 });
      for (const subject of ["antiphon.v1.run.0.approval.run_a.-.1", "$JS.API.STREAM.CREATE.ANT_JOURNAL_0"])
        await expect(nc.request(subject, "{}", { timeout: 2000 })).rejects.toThrow(/Permissions Violation/);
    } finally {
      await nc.close();
    }
  });

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
        /Permissions Violation/,
      );
    } finally {
      await nc.close();
    }
  });
});
