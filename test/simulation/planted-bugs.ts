/**
 * Bugs that are planted into the product, one at a time, to show that the simulation finds them. Each changes one piece
 * of code while it is bundled; the product's sources stay as they are. The texts match code only, no comments.
 */
import type { Mutation } from "./bundle.ts";

export interface PlantedBug extends Mutation {
  /** The number of seeds within which the simulation has to find it. */
  withinSeeds: number;
}

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: "verified-as-heard",
    bug: "a Director verifies a proposal without having read an earlier one of the same run",
    file: "services/director/src/scheduling/step.ts",
    find: 'kind !== "verify" || !chain',
    replace: 'kind !== "verify"',
    withinSeeds: 300,
  },
  {
    name: "no-expectation",
    bug: "records are appended without the expectation that their subject is empty",
    file: "runtime/src/journal/appends.ts",
    find: "{ ...filter, expectLastSubjectSequence }",
    replace: "filter",
    withinSeeds: 60,
  },
  {
    name: "ack-before-append",
    bug: "a delivery is acknowledged before it is handled",
    file: "runtime/src/work/delivery-handler.ts",
    find: "    const outcome = patient(",
    replace: '    this.answer(message, "+ACK");\n    const outcome = patient(',
    withinSeeds: 200,
  },
  {
    name: "claim-not-exclusive",
    bug: "an Associate works although another one holds the claim",
    file: "services/associate/src/claim/claim.ts",
    find: 'if (holder === null) return { kind: "work" };',
    replace: 'return { kind: "work" };',
    withinSeeds: 120,
  },
  {
    name: "cancel-after-verdict",
    bug: "a canceled run goes on to verify and land",
    file: "run/src/machine/run-machine.ts",
    find: "canceled: ({ context }) => context.cancel !== null,",
    replace: "canceled: () => false,",
    withinSeeds: 60,
  },
  {
    name: "key-ignored",
    bug: "the Idempotency-Key of a start is ignored",
    file: "services/gateway/src/intents/intent-intake.ts",
    find: "key === null ? newRunId() : runIdOf(key, speaker(caller))",
    replace: "newRunId()",
    withinSeeds: 60,
  },
  {
    name: "one-manifest-a-run",
    bug: "the tasks of a run have one key for their evidence, so a later one overwrites an earlier one's (I6)",
    file: "services/associate/src/evidence/evidence-store.ts",
    find: "keys.evidence(manifest.run_id, manifest.task_id, manifest.epoch)",
    replace: 'keys.evidence(manifest.run_id, "T-001", manifest.epoch)',
    withinSeeds: 60,
  },
  {
    name: "asked-again",
    bug: "a job whose runner fell silent is given to another one although its container may live (I8)",
    file: "services/associate/src/attempt/sandbox-job.ts",
    find: 'if (answer.data["mayLive"] === true) throw answer;',
    replace: "",
    withinSeeds: 400,
  },
  {
    name: "worked-on-twice",
    bug: "two deliveries of a dispatch in one packet are worked on at once (I8)",
    file: "services/associate/src/claim/under-way.ts",
    find: "    if (this.#keys.has(key)) return null;\n",
    replace: "",
    withinSeeds: 60,
  },
];
