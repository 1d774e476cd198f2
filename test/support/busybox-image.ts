/**
 * An image with BusyBox alone: one static program under all its names, like the smallest images of registries. It is
 * made from Debian's package, downloaded by set-up or here; no registry is needed. With musl beside it, it is like one of Alpine with Node.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { MinimalImage } from "./minimal-image.ts";

const DIRECTORIES = ["bin", "usr", "etc", "tmp", "workspace", "dev", "proc", "sys", "root", "home", "var"];

type Context = { note: (text: string) => void };

export async function makeBusyboxImage(name: string): Promise<MinimalImage> {
  return imageOf(name, await busyboxProgram(), null);
}

/**
 * Programs of the image are for musl: Node 22 with npm. Its bash is a static one. Its variables name libraries for musl, as those of images
 * with another allocator do.
 */
export async function makeMuslImage(name: string): Promise<MinimalImage> {
  const setup = fileURLToPath(new URL("../../setup/musl-tree.mjs", import.meta.url));
  const { ensureMuslTree } = (await import(setup)) as {
    ensureMuslTree: (context: Context) => Promise<string>;
  };
  return imageOf(name, await busyboxProgram(), await ensureMuslTree({ note: () => undefined }), [
    "ENV LD_PRELOAD=/usr/lib/libgcc_s.so.1",
    "ENV LD_LIBRARY_PATH=/usr/lib",
  ]);
}

/** @param more a directory whose content comes on top */
function imageOf(
  name: string,
  program: string,
  more: string | null,
  changes: readonly string[] = [],
): MinimalImage {
  const tree = mkdtempSync(join(tmpdir(), "antiphon-busybox-"));
  try {
    for (const directory of DIRECTORIES) mkdirSync(join(tree, directory));
    copyFileSync(program, join(tree, "bin/busybox"));
    symlinkSync("bin", join(tree, "sbin"));
    symlinkSync("../bin", join(tree, "usr/bin"));
    for (const applet of execFileSync(program, ["--list"], { encoding: "utf8" }).trim().split("\n"))
      if (applet !== "busybox") symlinkSync("busybox", join(tree, "bin", applet));
    if (more !== null) cpSync(more, tree, { recursive: true, verbatimSymlinks: true });
    const ref = `antiphon-test-${name}:${process.pid}`;
    const tar = execFileSync("tar", ["-cf", "-", "--owner=0", "--group=0", "-C", tree, "."], {
      maxBuffer: 512 * 1024 * 1024,
    });
    const words = ["import", ...changes.flatMap((change) => ["--change", change]), "-", ref];
    const id = execFileSync("docker", words, { input: tar, encoding: "utf8" }).trim();
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
    ensureBusybox: (context: Context) => Promise<{ program: string }>;
  };
  try {
    return (await ensureBusybox({ note: () => undefined })).program;
  } catch (error) {
    throw new Error(`no BusyBox to make an image of: ${(error as Error).message}`, { cause: error });
  }
}
