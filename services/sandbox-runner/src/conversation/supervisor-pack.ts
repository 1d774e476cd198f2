/**
 * The sealed supervisor for images without Perl: the default image's perl, its loader and its libraries are carried
 * into the container over its stream and run from there (supervisor/plain-supervisor.ts takes them in).
 *
 * The default image already decides verdicts, so it is trusted with these files too. They are deleted from the
 * container's file system before the first command runs.
 */
import type { Sandbox } from "../ports.ts";

export interface PackedFile {
  /** `perl`, `ld`, or the name under which a library is looked up. */
  readonly name: string;
  readonly content: Buffer;
}

export type SupervisorPack = readonly PackedFile[];

const MOST_BYTES = 32 * 1024 * 1024;
const STEP = {
  cwd: "/workspace",
  stdin: null,
  timeoutMs: 20_000,
  keepBytes: 16 * 1024,
  maxOutputBytes: 1024 * 1024,
} as const;
const ENV = { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C" };

/** Reads the pack out of a fresh sandbox of an image that has perl. Null where it cannot be read. */
export async function readPack(sandbox: Sandbox): Promise<SupervisorPack | null> {
  // Asks the loader which libraries it would load for this program, as ldd does.
  const trace = await sandbox.run({
    ...STEP,
    argv: ["perl"],
    env: { ...ENV, LD_TRACE_LOADED_OBJECTS: "1" },
  });
  const files = loadedFiles(trace.stdout.bytes.toString("latin1"));
  if (trace.exitCode !== 0 || files === null) return null;
  const copies = [...files].map(([name, path]) => `cp -L '${path}' '${name}'`).join(" && ");
  const argv = ["sh", "-c", `${copies} && cp -L "$(command -v perl)" perl`];
  if ((await sandbox.run({ ...STEP, argv, env: ENV })).exitCode !== 0) return null;
  const collected = await sandbox.collect(new Map(), { maxEntries: 64, maxFiles: 64, maxBytes: MOST_BYTES });
  return collected.files.map(({ path, content }) => ({ name: path, content }));
}

const WORD = "[A-Za-z0-9._+/-]+";
const LIBRARY = new RegExp(`^\\s*(${WORD}) => (/${WORD}) \\(`);
const LOADER = new RegExp(`^\\s*(/${WORD}) \\(`);

/** Paths by name. Null without a loader, as for a static perl. */
function loadedFiles(trace: string): ReadonlyMap<string, string> | null {
  const files = new Map<string, string>();
  for (const line of trace.split("\n")) {
    const [, name, path] = LIBRARY.exec(line) ?? [];
    if (name !== undefined && path !== undefined && !name.includes("/")) files.set(name, path);
    const loader = LOADER.exec(line)?.[1];
    if (loader !== undefined) files.set("ld", loader);
  }
  return files.has("ld") ? files : null;
}
