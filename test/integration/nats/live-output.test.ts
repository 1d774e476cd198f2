/** Live output and hints on a real server where each service has an account: they reach each listener once, output also the stream. */
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

for (const principal of ["gateway", "director"] as const)
  test(`a hint of a ${principal} reaches Associates and Directors once, also one that listens to that run or replay only`, async () => {
    const subject = subjects.control(`rpl_of_${principal}`);
    const heard: string[] = [];
    const teller = await server.bus(principal);
    for (const by of ["associate", "director"] as const) {
      const bus = await server.bus(by);
      listen(bus, subject, () => heard.push(by));
      listen(bus, subjects.controlAll, (_hint, of) => of === subject && heard.push(`${by} of all`));
      await bus.nc.flush();
    }
    tell(teller, subject, { kind: "cancel" });
    await teller.nc.flush();
    await eventually("the hint", () => heard.length >= 4, 5_000);
    expect(heard.sort()).toEqual(["associate", "associate of all", "director", "director of all"]);
  });
