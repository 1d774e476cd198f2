/**
 * The prepared environments of a deployment, as one runner sees them: found, or made once for all runners.
 *
 * The record of an environment in KV `ANT_ENVIRONMENTS` is its only lock: the runner that creates it builds, the others wait,
 * and a builder that lost its record stops. A record says `ready` only after the layer is in the object store, where its name
 * is the digest of its bytes; it is read back by that digest.
 *
 * A fault of the repository is recorded as `failed`. From then on the environment is refused at once, until somebody asks for
 * it again. A fault of the machine leaves no record, and the job fails with it. A request that no server answered is a fault
 * of the machine.
 */
import { rm } from "node:fs/promises";
import {
  AntiphonError,
  type EgressReport,
  type EnvironmentReport,
  type EnvironmentSpec,
  type SandboxRequest,
} from "@antiphon/contracts";
import type { Blobs, Clock, Kv } from "@antiphon/runtime";
import type { JobPorts } from "../jobs/job-ports.ts";
import type { ImageFacts } from "../ports.ts";
import { EnvironmentFailure } from "./environment-failure.ts";
import { environmentKey } from "./environment-key.ts";
import { afterUse, nextMove, type EnvironmentRecord } from "./environment-record.ts";
import type { LayerContent } from "./laying.ts";
import type { LayerArchive } from "./layer-archive.ts";
import { agentSpec, specBeside, wholeSpec } from "./agent-parts.ts";
import { Claim } from "./claim.ts";
import { prepare, SetupFault, type PreparationPorts } from "./preparation.ts";
import { SetupLog } from "./setup-log.ts";
import { SetupNews } from "./setup-news.ts";

export interface PreparedEnvironment {
  readonly report: EnvironmentReport;
  readonly layer: LayerContent;
}

export interface EnvironmentsOptions {
  readonly records: Kv;
  readonly layers: LayerArchive;
  /** Logs of setup; also the logs of the egress gateway. */
  readonly files: Blobs;
  readonly platform: string;
  readonly clock: Clock;
  readonly newHolder: () => string;
}

/** A job that needs an environment. */
export interface Needing {
  readonly request: SandboxRequest;
  readonly spec: EnvironmentSpec;
  readonly image: ImageFacts;
  readonly ports: PreparationPorts & Pick<JobPorts, "progress">;
  /** The installed agent that it is prepared beside. */
  readonly base?: LayerContent;
}

const LOOK_MS = 250;
/** A setup that runs for minutes is seen to go on. */
const NEWS_MS = 1_000;

export class Environments {
  readonly #options: EnvironmentsOptions;

  constructor(options: EnvironmentsOptions) {
    this.#options = options;
  }

  keyOf(spec: EnvironmentSpec, image: ImageFacts): string {
    return environmentKey(spec, { imageId: image.id, platform: this.#options.platform });
  }

  /** True if a job that needs it would not have to wait. */
  async isReady(spec: EnvironmentSpec, image: ImageFacts): Promise<boolean> {
    const entry = await this.#options.records.get<EnvironmentRecord>(this.keyOf(spec, image));
    return entry?.value.state === "ready";
  }

  /**
   * @param standard the image in which an agent is installed that fits any image
   * @throws AntiphonError ANT_ENVIRONMENT_FAILED (an EnvironmentFailure), or the machine's fault
   */
  async ensure(
    needing: Needing,
    standard: () => Promise<ImageFacts>,
    signal: AbortSignal,
  ): Promise<PreparedEnvironment> {
    const { spec, image } = needing;
    const home = spec.agent === undefined ? image : await standard();
    if (spec.agent === undefined || home.id === image.id)
      return this.#ensure({ ...needing, spec: wholeSpec(spec) }, signal);
    const installed = await this.#ensure(
      { ...needing, spec: agentSpec(spec, spec.agent), image: home },
      signal,
    );
    const beside = specBeside(spec, spec.agent, installed.layer.digest);
    const agent = installed.report;
    try {
      const made = await this.#ensure({ ...needing, spec: beside, base: installed.layer }, signal);
      return { ...made, report: { ...made.report, agent } };
    } catch (error) {
      if (!(error instanceof EnvironmentFailure)) throw error;
      throw new EnvironmentFailure(error.message, { ...error.report, agent });
    }
  }

  async #ensure(needing: Needing, signal: AbortSignal): Promise<PreparedEnvironment> {
    const { records, clock } = this.#options;
    const key = this.keyOf(needing.spec, needing.image);
    const again = needing.request.again === true;
    let seen = { revision: -1, at: 0 };
    for (let round = 0; ; round += 1) {
      signal.throwIfAborted();
      const entry = await records.get<EnvironmentRecord>(key);
      const revision = entry?.revision ?? 0;
      if (revision !== seen.revision) seen = { revision, at: clock.now() };
      const record = entry?.value ?? null;
      switch (nextMove(record, clock.now() - seen.at, again)) {
        case "use":
          if (record?.state !== "ready") break;
          {
            const found = await this.#use(key, record, revision);
            if (found !== null) return this.#told(found, needing);
          }
          break;
        case "refuse":
          if (record?.state === "failed")
            throw new EnvironmentFailure(record.message, { ...record.report, cached: true });
          break;
        case "build": {
          const claim = await Claim.take(records, key, this.#options.newHolder(), entry);
          if (claim === null) break;
          return await this.#build(key, needing, claim, signal);
        }
        case "wait":
          if (round === 0)
            needing.ports.progress(`waiting for environment ${short(key)}, which is being prepared`);
          await clock.sleep(LOOK_MS, signal);
      }
    }
  }

  /** Null: the layer is gone, so the record was removed and the environment has to be made again. */
  async #use(
    key: string,
    record: Extract<EnvironmentRecord, { state: "ready" }>,
    revision: number,
  ): Promise<PreparedEnvironment | null> {
    const { records, layers, clock } = this.#options;
    try {
      const layer = await layers.open(record.layer);
      const used = afterUse(record, clock.now());
      if (used !== null) await records.update(key, used, revision); // Another runner's note is as good.
      return { report: { ...record.report, cached: true }, layer };
    } catch (error) {
      const { code } = AntiphonError.from(error);
      if (code !== "ANT_BLOB_MISSING" && code !== "ANT_BLOB_CORRUPT") throw error;
      await records.update(
        key,
        { state: "building", holder: "", beat: 0 } satisfies EnvironmentRecord,
        revision,
      );
      await records.delete(key);
      return null;
    }
  }

  async #build(
    key: string,
    needing: Needing,
    claim: Claim,
    signal: AbortSignal,
  ): Promise<PreparedEnvironment> {
    const { layers, clock } = this.#options;
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
    try {
      const made = await prepare({ spec, image, request, path, log, news, base }, ports, stop);
      const layer = made.isBase ? layers.refOf(made.layer) : await layers.store(path, made.layer);
      const report = await this.#report(key, needing, log, {
        duration_ms: clock.now() - begun,
        layer: layer.digest,
        bytes: made.layer.bytes,
        files: made.layer.files,
        egress: made.egress,
      });
      await claim.settle({ state: "ready", layer, report, used_at: clock.now() });
      ports.progress(
        `environment ${short(key)} prepared in ${seconds(report.duration_ms)} (${report.files} files, ${mebibytes(report.bytes)})`,
      );
      return { report, layer: await layers.open(layer) };
    } catch (error) {
      if (!(error instanceof SetupFault) || stop.aborted) {
        await claim.release();
        throw claim.lost.aborted && !signal.aborted ? taken(key) : error;
      }
      log.note(error.message);
      const report = await this.#report(key, needing, log, {
        duration_ms: clock.now() - begun,
        layer: null,
        bytes: 0,
        files: 0,
        egress: error.egress,
      }).catch(async (thrown: unknown) => {
        await claim.release();
        throw thrown;
      });
      if (await this.#wasUnreachable(error.egress)) await claim.release();
      else await claim.settle({ state: "failed", report, message: error.message });
      throw new EnvironmentFailure(error.message, report);
    } finally {
      clearInterval(telling);
      await rm(path, { force: true });
    }
  }

  async #report(
    key: string,
    { spec, image }: Needing,
    log: SetupLog,
    made: Pick<EnvironmentReport, "duration_ms" | "layer" | "bytes" | "files" | "egress">,
  ): Promise<EnvironmentReport> {
    const { commands, found, decided_by, packages } = spec;
    const facts = { key, image: image.id, commands, found, decided_by, packages };
    return { ...facts, ...made, cached: false, log: await this.#options.files.put(null, log.bytes()) };
  }

  /** True if a server did not answer: another try may succeed although nothing changed. */
  async #wasUnreachable(egress: EgressReport | null): Promise<boolean> {
    if (egress?.log === undefined || egress.log === null) return false;
    const text = (await this.#options.files.get(egress.log)).toString("utf8");
    return /"code":"ANT_EGRESS_(UPSTREAM|TIMEOUT)"/.test(text);
  }

  #told(found: PreparedEnvironment, { ports, request }: Needing): PreparedEnvironment {
    if (request.purpose !== "prepare") ports.progress(`environment ${short(found.report.key)} cached`);
    return found;
  }
}

function taken(key: string): AntiphonError {
  return new AntiphonError("ANT_SANDBOX_FAILED", `another runner took over environment ${short(key)}`);
}

export const short = (key: string): string => key.slice(0, 8);

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
