import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { diskFinding, judgedDisk } from "./disk-finding.ts";

const GIB = 1024 ** 3;

test("a disk is judged by what is free: 35 GiB are enough, whatever share of it they are", () => {
  expect(judgedDisk(35 * GIB)).toMatchObject({ state: "ok", detail: "35.0 GiB free" });
  expect(judgedDisk(3 * GIB)).toMatchObject({
    state: "problem",
    detail: "3.0 GiB free; the journal stops when nothing is left",
    remedy: "free some disk space, 5.0 GiB or more",
  });
});

test("a state directory that does not exist yet is judged by the directory it will be in", () => {
  expect(diskFinding(join(tmpdir(), "antiphon-no-such", "state")).name).toBe("disk");
});
