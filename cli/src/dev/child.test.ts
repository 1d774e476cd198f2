import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SupervisedChild } from "./child.ts";
import { LogFile } from "./log-file.ts";

let scratch = "";
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), "antiphon-child-"));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

test("a child that ignores SIGTERM is killed after the grace time, with every process it started", async () => {
  let said: (line: string) => void = () => undefined;
  const line = new Promise<string>((resolve) => (said = resolve));
  const log = new LogFile(join(scratch, "child.log"));
  const stubborn = "trap '' TERM; sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done' & wait; wait";
  const child = new SupervisedChild(
    {
      name: "x",
      command: "sh",
      args: ["-c", stubborn],
      env: { PATH: process.env["PATH"] ?? "" },
      signalGroup: true,
      graceMs: 200,
    },
    log,
    () => undefined,
    said,
  );
  child.start();
  const grandchild = Number(await line);
  expect(process.kill(grandchild, 0)).toBe(true);
  const since = performance.now();
  await child.stop(); // resolves when nobody holds its output any more: the whole group
  expect(performance.now() - since).toBeGreaterThanOrEqual(190);
  expect(child.pid).toBeNull();
  log.close();
});
