/**
 * The prepared environments of a deployment, as one runner sees them: found, or made once for all runners.
 *
 * The record of an environment in KV `ANT_ENVIRONMENTS` is its only lock: the runner that creates it builds (building.ts), the others wait,
 * and a builder that lost its record stops. A record says `ready` only after the layer is in the object store, where its name
 * is the digest of its bytes; it is read back by that digest.
 *
 * A fault of the repository is recorded as `failed`. From then on the environment is refused at once, until somebody asks for
 * it again. A fault of the machine leaves no record, and the job fails with it. A request that no server answered is a fault
 * of the machine.
 */
import { AntiphonError } from "@antiphon/contracts";
import type { Kv } from "@antiphon/runtime";
import { agentSpec, specBeside, wholeSpec } from "./agent-parts.ts";
import { build, type BuildStores, type Needing, type PreparedEnvironment } from "./building.ts";
import { Claim } from "./claim.ts";
import { EnvironmentFailure } from "./environment-failure.ts";
import { environmentKey, shortKey } from "./environment-key.ts";
import { afterUse, nextMove, type EnvironmentRecord } from "./environment-record.ts";

export interface EnvironmentsOptions extends BuildStores {
  readonly records: Kv;
  readonly platform: string;
  readonly newHolder: () => string;
}

const LOOK_MS = 250;

export class Environments {
  readonly #options: EnvironmentsOptions;

  constructor(options: EnvironmentsOptions) {
    this.#options = options;
  }

  /**
   * An agent that fits any image is installed in the standard image.
   * @throws AntiphonError ANT_ENVIRONMENT_FAILED (an EnvironmentFailure), or the machine's fault
   */
  async ensure(needing: Needing, signal: AbortSignal): Promise<PreparedEnvironment> {
    const { spec, image, ports } = needing;
    const home = spec.agent === undefined ? image : await ports.image(null);
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
    const { records, clock, platform } = this.#options;
    const { spec, image, request, ports } = needing;
    const key = environmentKey(spec, { imageId: image.id, platform });
    const again = request.again === true;
    let seen = { revision: -1, at: 0 };
    for (let round = 0; ; round += 1) {
      signal.throwIfAborted();
      const entry = await records.get<EnvironmentRecord>(key);
      const revision = entry?.revision ?? 0;
      if (revision !== seen.revision) seen = { revision, at: clock.now() };
      const record = entry?.value ?? null;
      switch (nextMove(record, clock.now() - seen.at, again)) {
        case "use": {
          const found = record?.state === "ready" ? await this.#use(key, record, revision) : null;
          if (found === null) break;
          if (request.purpose !== "prepare") ports.progress(`environment ${shortKey(key)} cached`);
          return found;
        }
        case "refuse":
          if (record?.state === "failed")
            throw new EnvironmentFailure(record.message, { ...record.report, cached: true });
          break;
        case "build": {
          const claim = await Claim.take(records, key, this.#options.newHolder(), entry);
          if (claim === null) break;
          return await build(key, needing, claim, this.#options, signal);
        }
        case "wait":
          if (round === 0)
            ports.progress(`waiting for environment ${shortKey(key)}, which is being prepared`);
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
}
