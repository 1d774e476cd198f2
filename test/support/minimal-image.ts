/**
 * An image with a POSIX shell and little else: no perl, no git, no bash, no node, no python. It is made and imported
 * from the sandbox image's own files, so no registry is needed.
 */
import { execFileSync } from "node:child_process";
import { sandboxImage } from "./docker.ts";

const TOOLS: readonly string[] = [
  "cat",
  "chmod",
  "cp",
  "head",
  "ln",
  "ls",
  "mkdir",
  "rm",
  "sleep",
  "tr",
  "wc",
  "env",
  "tar",
  "xargs",
  "sed",
  "grep",
];

/** Copies the tools, the libraries that they load and the rest of glibc into a tree, and writes it as a tar. */
const scriptFor = (tools: readonly string[]): string => `
set -e; T=/tmp/tree; mkdir -p $T/bin $T/tmp $T/workspace $T/dev $T/proc $T/sys $T/etc; ln -s bin $T/sbin
mkdir -p $T/usr; ln -s ../bin $T/usr/bin
cp /bin/dash $T/bin/sh
for tool in ${tools.join(" ")}; do cp -L "$(command -v $tool)" $T/bin/$tool; done
for lib in $(ldd $T/bin/* 2>/dev/null | grep -o '/[^ ]*' | grep '\\.so' | sort -u); do
  mkdir -p "$T$(dirname "$lib")"; cp -Lu "$lib" "$T$lib"; done
glibc=$(dirname "$(ldd /bin/dash | grep -o '/[^ ]*libc\\.so\\.6')")
for part in libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libutil.so.1 libresolv.so.2; do cp -Lu "$glibc/$part" "$T$glibc/$part"; done
tar -cf - -C $T .`;

export interface MinimalImage {
  readonly ref: string;
  readonly id: string;
  remove(): void;
}

/** @param programs shell scripts that it holds beside its tools, by name  @param more further tools of the sandbox image */
export function makeMinimalImage(
  name: string,
  changes: readonly string[] = [],
  programs: Readonly<Record<string, string>> = {},
  more: readonly string[] = [],
): MinimalImage {
  const ref = `antiphon-test-${name}:${process.pid}`;
  const run = ["run", "--rm", "--network", "none", "--user", "0:0", "--entrypoint", "bash"];
  const written = Object.entries(programs).map(
    ([program, text]) =>
      `mkdir -p /tmp/tree/bin; cat > /tmp/tree/bin/${program} <<'END'\n${text}\nEND\nchmod 755 /tmp/tree/bin/${program}\n`,
  );
  const tree = execFileSync(
    "docker",
    [...run, sandboxImage(), "-c", `${written.join("")}${scriptFor([...TOOLS, ...more])}`],
    {
      maxBuffer: 256 * 1024 * 1024,
    },
  );
  const options = changes.flatMap((change) => ["--change", change]);
  const id = execFileSync("docker", ["import", ...options, "-", ref], {
    input: tree,
    encoding: "utf8",
  }).trim();
  return {
    ref,
    id,
    remove: () => void execFileSync("docker", ["rmi", "--force", id], { stdio: "ignore" }),
  };
}
