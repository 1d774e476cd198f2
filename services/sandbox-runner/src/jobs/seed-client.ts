/**
 * The seed's SandboxClient (RFC 000, with the extension of SandboxJob v1) on any provider: one command, with files in
 * and out, including binary and executable ones.
 *
 * Its result has no field for the reason of an end, so a timeout becomes exit code 124 and exhausted memory 137, as a
 * shell reports them. sandbox-rpc reports the reason itself.
 */
import {
  AntiphonError,
  limits,
  type SandboxClient,
  type SandboxJobFile,
  type SandboxJobV1,
  type SandboxResultV1,
} from "@antiphon/contracts";
import { stepEnvironment } from "../environments/variables.ts";
import type { Collected } from "../workspace/collected.ts";
import { collectBounds, MAX_OUTPUT_BYTES } from "../job-limits.ts";
import { checkPath } from "../workspace/path-rule.ts";
import { canonicalTar, comparePaths, type WritableFile } from "../workspace/tar-writer.ts";
import {
  SandboxDied,
  type ContainerLimits,
  type CommandExit,
  type Sandbox,
  type SandboxProvider,
} from "../ports.ts";

export interface SeedClientOptions {
  readonly provider: SandboxProvider;
  readonly limits: ContainerLimits;
  readonly labels: () => Readonly<Record<string, string>>;
}

const TIMED_OUT = 124;
const OUT_OF_MEMORY = 137;
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function seedClient({ provider, limits: bounds, labels }: SeedClientOptions): SandboxClient {
  return {
    async run(job: SandboxJobV1): Promise<SandboxResultV1> {
      const image = await provider.image(job.imageOrTemplate);
      if (image === null) {
        throw new AntiphonError("ANT_SANDBOX_IMAGE_MISSING", `image ${job.imageOrTemplate} is not there`);
      }
      const files = Object.entries(job.files).map(([path, { content, encoding, mode }]): WritableFile => {
        return { path: checkPath(path), mode, content: Buffer.from(content, encoding) };
      });
      const sandbox = await provider.start({ imageId: image.id, limits: bounds, labels: labels() });
      try {
        if (files.length > 0) await sandbox.putTar(canonicalTar(files));
        const env = { ...stepEnvironment(image, sandbox.home), ...job.env };
        return {
          ...(await outcomeOf(sandbox, job, env)),
          meta: { bootMs: sandbox.bootMs, provider: provider.name },
        };
      } finally {
        await sandbox.destroy({ kind: "canceled", reason: "the job is over" });
      }
    },
  };
}

async function outcomeOf(
  sandbox: Sandbox,
  job: SandboxJobV1,
  env: Readonly<Record<string, string>>,
): Promise<Omit<SandboxResultV1, "meta">> {
  let exit: Pick<CommandExit, "exitCode" | "stdout" | "stderr">;
  try {
    exit = await sandbox.run({
      argv: ["sh", "-c", job.cmd],
      cwd: "/workspace",
      env,
      stdin: null,
      timeoutMs: job.timeoutMs,
      keepBytes: limits.outputKeptBytes,
      maxOutputBytes: MAX_OUTPUT_BYTES,
    });
  } catch (error) {
    const isNamed =
      error instanceof SandboxDied && (error.death.kind === "timeout" || error.death.kind === "oom");
    if (!isNamed || error.partial === null) throw error;
    const exitCode = error.death.kind === "timeout" ? TIMED_OUT : OUT_OF_MEMORY;
    return {
      exitCode,
      stdout: String(error.partial.stdout.bytes),
      stderr: String(error.partial.stderr.bytes),
      files: {},
    };
  }
  // The baseline is empty, so every file counts as changed.
  const collected = await sandbox.collect(new Map(), collectBounds());
  return {
    exitCode: exit.exitCode,
    stdout: String(exit.stdout.bytes),
    stderr: String(exit.stderr.bytes),
    files: filesOf(collected),
  };
}

/** In canonical order, so that the stored result does not depend on how a tar was made. */
function filesOf({ files }: Collected): Record<string, SandboxJobFile> {
  const sorted = [...files].sort((a, b) => comparePaths(a.path, b.path));
  return Object.fromEntries(sorted.map(({ path, mode, content }) => [path, { ...readable(content), mode }]));
}

function readable(content: Buffer): Pick<SandboxJobFile, "content" | "encoding"> {
  try {
    return { content: strictUtf8.decode(content), encoding: "utf8" };
  } catch {
    return { content: content.toString("base64"), encoding: "base64" }; // not text
  }
}
