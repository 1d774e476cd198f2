/** Whether the disk of the state directory has room for the journal, evidence and trees. */
import { existsSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { bytes } from "../screen/table.ts";
import { ok, problem, type Finding } from "./finding.ts";

/** A full disk shuts JetStream down. The trees and environments of a few large repositories take this much. */
const LEAST_FREE_BYTES = 5 * 1024 ** 3;

export function diskFinding(stateDir: string): Finding {
  let place = stateDir;
  while (!existsSync(place)) place = dirname(place); // Before the first set-up there is no such directory.
  const { bavail, bsize } = statfsSync(place);
  return judgedDisk(bavail * bsize);
}

/** By what is free and not by its share: a tenth of a large disk is enough. */
export function judgedDisk(freeBytes: number): Finding {
  const detail = `${bytes(freeBytes)} free`;
  return freeBytes < LEAST_FREE_BYTES
    ? problem(
        "disk",
        `${detail}; the journal stops when nothing is left`,
        `free some disk space, ${bytes(LEAST_FREE_BYTES)} or more`,
      )
    : ok("disk", detail);
}
