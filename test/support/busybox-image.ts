/**
 * An image with BusyBox alone: one static program under all its names, like the smallest images of registries. It is
 * made from Debian's package, downloaded by set-up or here; no registry is needed.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { MinimalImage } from "./minimal-image.ts";

const DIRECTORIES = ["bin", "usr", "etc", "tmp", "workspace", "dev", "proc", "sys", "root", "home", "var"];

export async function makeBusyboxImage(name: string): Promise<MinimalImage> {
  const program = await busyboxProgram();
  const tree = mkdtempSync(join(tmpdir(), "antiphon-busybox-"));
  try {
    for (const directory of DIRECTORIES) mkdirSync(join(tree, directory));
    copyFileSync(program, join(tree, "bin/busybox"));
    symlinkSync("bin", join(tree, "sbin"));
    symlinkSync("../bin", join(tree, "usr/bin"));
    for (const applet of execFileSync(program, ["--list"], { encoding: "utf8" }).trim().split("\n"))
      if (applet !== "busybox") symlinkSync("busybox", join(tree, "bin", applet));
    const ref = `antiphon-test-${name}:${process.pid}`;
    const tar = execFileSync("tar", ["-cf", "-", "--owner=0", "--group=0", "-C", tree, "."], {
      maxBuffer: 64 * 1024 * 1024,
    });
    const id = execFileSync("docker", ["import", "-", ref], { input: tar, encoding: "utf8" }).trim();
    return {
      ref,
      id,
      remove: () => void execFileSync("docker", ["rmi", "--force", id], { stdio: "ignore" }),
    };
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

async function busyboxProgram(): Promise<string> {
  const setup = fileURLToPath(new URL("../../setup/busybox.mjs", import.meta.url));
  const { ensureBusybox } = (await import(setup)) as {
    ensureBusybox: (context: { note: (text: string) => void }) => Promise<{ program: string }>;
  };
  try {
    return (await ensureBusybox({ note: () => undefined })).program;
  } catch (error) {
    throw new Error(`no BusyBox to make an image of: ${(error as Error).message}`, { cause: error });
  }
}
