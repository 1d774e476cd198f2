/** Unpacks the tar of a layer in a container, and refuses one that breaks a bound or whose digest is not the layer's. */
import { createHash, type Hash } from "node:crypto";
import { AntiphonError, limits } from "@antiphon/contracts";
import type { Sandbox } from "../ports.ts";
import { subArchive } from "../environments/sub-archive.ts";
import { UNPACKED } from "../providers/workspace-mounts.ts";
import { engineFull, firstLine, isNoSpace, saysNoSpace } from "../workspace/no-space.ts";
import { invalid, LayerBounds } from "./layer-bounds.ts";
import type { LayerName } from "./layer-store.ts";
import type { LayerPart } from "./layer-volumes.ts";

const TOOL_ENV = { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C" };
const TOOL_KEEP_BYTES = 16 * 1024;
const TOOL_OUTPUT_BYTES = 16 * 1024 * 1024;
/** Lets the group do what the owner may, who may read everything. Links are not followed. The volume itself is the engine's. */
const SHARE: readonly string[] = [
  ...["find", ".", "-mindepth", "1", "-maxdepth", "1", "-not", "-type", "l"],
  ...["-exec", "chmod", "-R", "u+rX,ug-s,-t,g=u", "{}", "+"],
];

/**
 * Unpacks one directory of the tar ("": all of it), then ends the container. Only that directory is sent to it, because the other
 * one may be gigabytes. Resolves to the length of the whole tar.
 */
export async function unpack(
  filler: Sandbox,
  name: LayerName,
  part: LayerPart,
  tar: AsyncIterable<Buffer>,
): Promise<number> {
  const bounds = new LayerBounds(name);
  const digest = createHash("sha256");
  try {
    const source = new CheckedTar(tar, bounds, digest);
    const sent = part === "" ? source.pieces() : subArchive(source.pieces(), part);
    const argv = ["tar", "-xf", "-", "-C", UNPACKED, "--no-overwrite-dir"];
    await tool(filler, name, argv, sent).catch((error: unknown) => {
      if (source.fault instanceof Error) throw source.fault; // a broken source also breaks the command that reads it
      if (isNoSpace(error)) throw error;
      bounds.finish(); // as does one that stops early
      throw error;
    });
    const actual = digest.digest("hex");
    if (actual !== name.digest) throw invalid(name, `its bytes have the digest ${actual}`);
    if (name.kind === "environment") await tool(filler, name, SHARE, null);
    await tool(filler, name, ["sync", "-f", UNPACKED], null);
    return bounds.finish();
  } finally {
    await filler.destroy({ kind: "canceled", reason: "the layer is unpacked" });
  }
}

/** A tar on its way into a container, and what was wrong with it. */
class CheckedTar {
  readonly #tar: AsyncIterable<Buffer>;
  readonly #bounds: LayerBounds;
  readonly #digest: Hash;
  fault: unknown = null;

  constructor(tar: AsyncIterable<Buffer>, bounds: LayerBounds, digest: Hash) {
    this.#tar = tar;
    this.#bounds = bounds;
    this.#digest = digest;
  }

  async *pieces(): AsyncGenerator<Buffer> {
    try {
      for await (const piece of this.#tar) {
        this.#bounds.push(piece);
        this.#digest.update(piece);
        yield piece;
      }
    } catch (error) {
      this.fault = error;
      throw error;
    }
  }
}

async function tool(
  filler: Sandbox,
  { kind }: LayerName,
  argv: readonly string[],
  stdin: AsyncIterable<Buffer> | null,
): Promise<void> {
  const exit = await filler.run({
    argv,
    cwd: UNPACKED,
    env: TOOL_ENV,
    stdin,
    timeoutMs: limits.layerFillMs,
    keepBytes: TOOL_KEEP_BYTES,
    maxOutputBytes: TOOL_OUTPUT_BYTES,
  });
  if (exit.exitCode === 0) return;
  const said = exit.stderr.tail;
  if (saysNoSpace(said)) throw engineFull(`to lay out the ${kind === "tree" ? "repository" : "environment"}`);
  throw failed(`${argv[0] ?? ""} ended with ${exit.exitCode}: ${firstLine(said)}`);
}

export function failed(why: string): AntiphonError {
  return new AntiphonError("ANT_SANDBOX_FAILED", why);
}
