/**
 * Makes an environment under a claim, and writes the record that says how it ended.
 *
 * A fault of the repository is recorded, unless a server did not answer its setup: another try may then succeed although
 * nothing changed. Every other error gives the claim back.
 */
import { rm } from "node:fs/promises";
import {
  AntiphonError,
  type EgressReport,
  type EnvironmentReport,
  type EnvironmentSpec,
  type SandboxRequest,
} from "@antiphon/contracts";
import type { Blobs, Clock } from "@antiphon/runtime";
import type { JobPorts } from "../jobs/job-ports.ts";
import type { ImageFacts } from "../ports.ts";
import type { Claim } from "./claim.ts";
import { EnvironmentFailure } from "./environment-failure.ts";
import { shortKey } from "./environment-key.ts";
import type { LayerArchive } from "./layer-archive.ts";
import type { LayerContent } from "./laying.ts";
import { prepare, type PreparationPorts } from "./preparation.ts";
import { SetupFault } from "./setup-fault.ts";
import { SetupLog } from "./setup-log.ts";
import { SetupNews } from "./setup-news.ts";

export interface PreparedEnvironment {
  readonly report: EnvironmentReport;
  readonly layer: LayerContent;
}

/** A job that needs an environment. */
export interface Needing {
  readonly request: SandboxRequest;
  readonly spec: EnvironmentSpec;
  readonly image: ImageFacts;
  readonly ports: PreparationPorts & Pick<JobPorts, "image" | "progress">;
  /** The installed agent that it is prepared beside. */
  readonly base?: LayerContent;
}

export interface BuildStores {
  readonly layers: LayerArchive;
  /** Logs of setup; also the logs of the egress gateway. */
  readonly files: Blobs;
  readonly clock: Clock;
}

/** A setup that runs for minutes shows that it goes on. */
const NEWS_MS = 1_000;

/** @throws EnvironmentFailure for a fault of the repository, or the machine's fault */
export async function build(
  key: string,
  needing: Needing,
  claim: Claim,
  stores: BuildStores,
  signal: AbortSignal,
): Promise<PreparedEnvironment> {
  const { layers, files, clock } = stores;
  const { spec, image, request, ports, base = null } = needing;
  const path = await layers.newFile(key);
  const log = new SetupLog();
  const begun = clock.now();
  const stop = AbortSignal.any([signal, claim.lost]);
  const news = new SetupNews(begun);
  news.command(spec.commands[0] ?? "");
  const tell = (): void => ports.progress(news.text(clock.now()));
  tell();
  const telling = setInterval(tell, NEWS_MS).unref();
  const reported = async (made: Made): Promise<EnvironmentReport> => {
    const { commands, found, decided_by, packages } = spec;
    const facts = { key, image: image.id, commands, found, decided_by, packages };
    const duration_ms = clock.now() - begun;
    return { ...facts, ...made, duration_ms, cached: false, log: await files.put(null, log.bytes()) };
  };
  try {
    const made = await prepare({ spec, image, request, path, log, news, base }, ports, stop);
    const layer = made.isBase ? layers.refOf(made.layer) : await layers.store(path, made.layer);
    const { bytes, files: count } = made.layer;
    const report = await reported({ layer: layer.digest, bytes, files: count, egress: made.egress });
    await claim.settle({ state: "ready", layer, report, used_at: clock.now() });
    ports.progress(
      `environment ${shortKey(key)} prepared in ${seconds(report.duration_ms)} (${count} files, ${mebibytes(bytes)})`,
    );
    return { report, layer: await layers.open(layer) };
  } catch (error) {
    if (!(error instanceof SetupFault) || stop.aborted) {
      await claim.release();
      throw claim.lost.aborted && !signal.aborted ? taken(key) : error;
    }
    log.note(error.message);
    const report = await reported({ layer: null, bytes: 0, files: 0, egress: error.egress }).catch(
      async (thrown: unknown) => {
        await claim.release();
        throw thrown;
      },
    );
    if (await wasUnanswered(error.egress, files)) await claim.release();
    else await claim.settle({ state: "failed", report, message: error.message });
    throw new EnvironmentFailure(error.message, report);
  } finally {
    clearInterval(telling);
    await rm(path, { force: true });
  }
}

type Made = Pick<EnvironmentReport, "layer" | "bytes" | "files" | "egress">;

async function wasUnanswered(egress: EgressReport | null, files: Blobs): Promise<boolean> {
  if (egress?.log === undefined || egress.log === null) return false;
  const text = (await files.get(egress.log)).toString("utf8");
  return /"code":"ANT_EGRESS_(UPSTREAM|TIMEOUT)"/.test(text);
}

function taken(key: string): AntiphonError {
  return new AntiphonError("ANT_SANDBOX_FAILED", `another runner took over environment ${shortKey(key)}`);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
