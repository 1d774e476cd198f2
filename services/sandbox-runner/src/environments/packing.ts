/** Reads what setup made out of its sandbox, into the file of a layer. */
import { limits } from "@antiphon/contracts";
import type { Sandbox } from "../ports.ts";
import { TarReader } from "../workspace/tar-reader.ts";
import { LAYER_PLACES, type LayerTop } from "./layer-rules.ts";
import { LayerWriter, type WrittenLayer } from "./layer-writer.ts";
import { SetupFault } from "./setup-fault.ts";

const PACK_MS = 300_000;
/** Each name of a file becomes a file of its own, where the image's tar can do that. */
const PACK =
  'hard=--hard-dereference; tar $hard --version >/dev/null 2>&1 || hard=; exec tar $hard -cf - -C "$1" .';

/** @param path a new file; removed if the reading fails @param isTracked whether the source tree has a path */
export async function packed(
  path: string,
  sandbox: Sandbox,
  isTracked: (path: string) => boolean,
): Promise<WrittenLayer> {
  const { environmentBytes: maxBytes, environmentFiles: maxFiles } = limits;
  const writer = new LayerWriter(path, { maxBytes, maxFiles });
  try {
    for (const top of ["workspace", "home"] as const) {
      const isTrackedHere = top === "workspace" ? isTracked : (): boolean => false;
      await readOut(sandbox, top, writer, isTrackedHere);
    }
    return await writer.finish();
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}

async function readOut(
  sandbox: Sandbox,
  top: LayerTop,
  writer: LayerWriter,
  isTracked: (path: string) => boolean,
): Promise<void> {
  const reader = new TarReader(writer.sink(top, isTracked));
  const stop = new AbortController();
  let refusal: unknown = null;
  const exit = await sandbox.run({
    argv: ["sh", "-c", PACK, "sh", LAYER_PLACES[top]],
    cwd: "/workspace",
    env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" },
    stdin: null,
    timeoutMs: PACK_MS,
    signal: stop.signal,
    keepBytes: 4096,
    maxOutputBytes: 4 * limits.environmentBytes,
    onOutput: (stream, piece) => {
      if (stream === "stderr" || refusal !== null) return undefined;
      try {
        reader.push(piece);
      } catch (error) {
        refusal = error;
        stop.abort();
        return undefined;
      }
      return writer.drained();
    },
  });
  if (refusal !== null) throw refusal as Error;
  if (exit.exitCode !== 0) throw new SetupFault(`${top} cannot be read: ${exit.stderr.tail.trim()}`);
  reader.finish();
}
