/** Live output on a real server where each service has an account: it reaches whoever watches, once, and the stream. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { subjects, type LogLine } from "@antiphon/contracts";
import { listen, tell } from "../../../runtime/src/index.ts";
import { eventually } from "../../support/nats.ts";
import { startProvisioned, type UsersServer } from "../../support/nats-users.ts";

let server: UsersServer;

beforeAll(async () => {
  server = await startProvisioned();
});
afterAll(() => server.close());

for (const principal of ["sandbox-runner", "associate", "director"] as const)
  test(`what a ${principal} tells of a run reaches the gateway's watchers and the log, once each`, async () => {
    const run = `run_of_${principal.replace("-", "_")}`;
    const gateway = await server.bus("gateway");
    const heard: string[] = [];
    listen<LogLine>(gateway, subjects.logsOfRun(run), ({ text }) => heard.push(text));
    await gateway.nc.flush();
    const teller = await server.bus(principal);
    for (const text of ["first", "second"])
      tell(teller, subjects.log(run, "T-001", "progress"), { text, epoch: 1 });
    await teller.nc.flush();
    await eventually("the second line", () => heard.includes("second"), 5_000);
    expect(heard).toEqual(["first", "second"]);
    const director = await server.bus("director");
    const stored = await director.jsm.streams.info("ANT_LOG", { subjects_filter: subjects.logsOfRun(run) });
    expect(stored.state.subjects).toEqual({ [subjects.log(run, "T-001", "progress")]: 2 });
  });
