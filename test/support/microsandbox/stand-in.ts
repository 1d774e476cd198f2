/** A home directory with the configuration of the `msb` stand-in, and a list of its remaining machines. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { machinesOf } from "../e2b/machine.ts";

const PROGRAM = fileURLToPath(new URL("./msb", import.meta.url));

export interface MsbStandIn {
  readonly home: string;
  /** Search path with msb in it. */
  readonly path: string;
  readonly imageName: string;
  containers(): Promise<string[]>;
  /** Changes its configuration, until the next change. */
  tell(words: Readonly<Record<string, string>>): void;
  close(): void;
}

export function msbStandIn(image: string): MsbStandIn {
  const home = mkdtempSync(join(tmpdir(), "antiphon-msb-"));
  const owner = randomUUID();
  const imageName = "antiphon-test";
  symlinkSync(PROGRAM, join(home, "msb"));
  const tell = (words: Readonly<Record<string, string>>): void => {
    const engine = process.env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock";
    const all = {
      DOCKER_HOST: engine,
      IMAGE: image,
      IMAGE_NAME: imageName,
      OWNER: owner,
      BOOTS: "yes",
      ...words,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}='${value}'\n`);
    writeFileSync(join(home, "stand-in"), lines.join(""));
  };
  tell({});
  return {
    home,
    path: `${home}:${process.env["PATH"] ?? ""}`,
    imageName,
    tell,
    containers: () => machinesOf(owner),
    close: () => rmSync(home, { recursive: true, force: true }),
  };
}
