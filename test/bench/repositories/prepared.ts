/** Prepared environments through a real sandbox-runner: preparing one, and a sandbox over it that is ready. */
import { BUCKETS, type EnvironmentSpec, type SandboxOutcome } from "@antiphon/contracts";
import { createLogger, openBlobs, sandboxClient, uniqueId, type SandboxClient } from "@antiphon/runtime";
import { EnvironmentSpecs } from "../../../services/director/src/environments/environment-specs.ts";
import { Repositories } from "../../../services/director/src/repositories/repositories.ts";
import type { EgressWorld } from "../../support/egress-world.ts";
import type { Generated } from "./generated.ts";

export interface PreparedTree {
  readonly tree: string;
  readonly spec: EnvironmentSpec;
}

export class Preparations {
  readonly #client: SandboxClient;
  readonly #repositories: Repositories;
  readonly #specs: EnvironmentSpecs;

  constructor({ bus }: EgressWorld) {
    const signer = { publicKey: Buffer.alloc(32), sign: () => Buffer.alloc(64) };
    const log = createLogger("bench", { level: "silent" });
    this.#client = sandboxClient(bus, { requester: "bench" });
    this.#repositories = new Repositories(openBlobs(bus, BUCKETS.repos), { roots: null }, signer, log);
    this.#specs = new EnvironmentSpecs(this.#repositories, openBlobs(bus, BUCKETS.evidenceFiles));
  }

  /** What the Director decides for the newest commit of a repository. */
  async decided(repository: Generated): Promise<PreparedTree> {
    const [repo, base] = [{ name: "app", path: repository.path }, repository.head()];
    const tree = await this.#repositories.exportBase(repo, base);
    const spec = await this.#specs.specFor({ repo, base, named: undefined }, tree, null);
    if (spec === null) throw new Error("the repository needs no environment");
    return { tree: tree.object, spec };
  }

  /** Milliseconds until the environment is stored for every runner. */
  async prepare(wanted: PreparedTree): Promise<number> {
    const begun = performance.now();
    const outcome = await this.#job(wanted, "prepare");
    if (outcome.environment?.cached !== false) throw new Error("the environment was there before");
    return performance.now() - begun;
  }

  /** Milliseconds from the request until a command in the sandbox has ended. */
  async ready(wanted: PreparedTree): Promise<number> {
    const begun = performance.now();
    let ended = Number.NaN;
    await this.#job(wanted, "attempt", () => (ended = performance.now()));
    return ended - begun;
  }

  async #job(
    { tree, spec }: PreparedTree,
    purpose: "prepare" | "attempt",
    onStep: () => void = () => undefined,
  ): Promise<SandboxOutcome> {
    const looks = ["test", "-d", "node_modules/package0"];
    const step = { id: "true", argv: looks, env: {}, timeoutMs: 60_000, continueOnFailure: false };
    const outcome = await this.#client.run(
      {
        ...{ jobId: `job_${uniqueId()}`, run: "run_bench", task: "T-001", epoch: 1, purpose, image: null },
        budgetMs: 600_000,
        workspace: {
          tree: purpose === "prepare" ? null : tree,
          ...{ files: [], overlay: null, deletions: [], environment: spec },
        },
        steps: purpose === "prepare" ? [] : [step],
        collect: false,
      },
      {
        signal: AbortSignal.timeout(900_000),
        onEvent: ({ kind }) => {
          if (kind === "step") onStep();
        },
      },
    );
    const isGood = outcome.outcome === "completed" && outcome.steps.every(({ exitCode }) => exitCode === 0);
    if (!isGood) throw new Error(`${outcome.outcome}: ${outcome.message}`);
    return outcome;
  }
}
