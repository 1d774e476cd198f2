/**
 * Bugs that are planted into the product, one at a time, to see that the simulation finds them. Each is one line
 * changed on its way into the bundle; the product itself is not touched.
 */
import type { Mutation } from "./bundle.ts";

export interface PlantedBug extends Mutation {
  /** The simulation has to find it within so many seeds. */
  withinSeeds: number;
}

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: "no-expectation",
    bug: "records are appended without the expectation that their subject is empty",
    file: "runtime/src/journal.ts",
    find: "expectLastSubjectSequence: 0, group: true",
    replace: "group: true",
    withinSeeds: 60,
  },
  {
    name: "ack-before-append",
    bug: "a delivery is acknowledged before it is handled",
    file: "runtime/src/work.ts",
    find: "  try {\n    const outcome = patient(",
    replace: '  say(bus, message, "+ACK");\n  try {\n    const outcome = patient(',
    withinSeeds: 120,
  },
  {
    name: "unknown-is-stored",
    bug: "a publish without an acknowledgement counts as stored",
    file: "runtime/src/journal.ts",
    find: 'if (result.kind === "ok") {',
    replace:
      'if (result.kind === "unknown") return { kind: "appended", record: { ...envelope, seq: 1, digest, at: new Date(this.clock.now()), subject } as StoredRecord };\n      if (result.kind === "ok") {',
    withinSeeds: 200,
  },
  {
    name: "epoch-unchecked",
    bug: "a record of a stale epoch changes its task",
    file: "services/director/src/core/task-fold.ts",
    find: "if (event.epoch !== phase.epoch) {",
    replace: "if (event.epoch > phase.epoch + 1000) {",
    withinSeeds: 200,
  },
  {
    name: "claim-not-exclusive",
    bug: "an Associate works although another one holds the claim",
    file: "services/associate/src/core/claim.ts",
    find: 'if (answer.kind === "ours") return { kind: "work" };',
    replace: 'if (answer.kind !== "settled" as never) return { kind: "work" };',
    withinSeeds: 120,
  },
  {
    name: "cancel-after-verdict",
    bug: "a canceled run goes on to verify and land",
    file: "services/director/src/core/run-machine.ts",
    find: "canceled: ({ context }) => context.cancel !== null,",
    replace: "canceled: () => false,",
    withinSeeds: 60,
  },
  {
    name: "key-ignored",
    bug: "the Idempotency-Key of a start is ignored",
    file: "services/gateway/src/intent-intake.ts",
    find: "key === null ? newRunId() : runIdOf(key, principal)",
    replace: "newRunId()",
    withinSeeds: 60,
  },
  {
    name: "no-heartbeat",
    bug: "the server is not told that a record is being worked on",
    file: "runtime/src/work.ts",
    find: 'say(bus, message, "+WPI")',
    replace: "undefined",
    withinSeeds: 200,
  },
  {
    name: "swallowed-retry",
    bug: "a record delivered twice to one Director is acknowledged while its effect may still fail",
    file: "services/director/src/director.ts",
    find: "first === undefined ? this.#handle(delivery) : first.then(() => this.#handle(delivery))",
    replace: "this.#handle(delivery)",
    withinSeeds: 600,
  },
  {
    name: "hole-in-a-read",
    bug: "a series of direct-get answers with a hole in it passes for a whole run",
    file: "runtime/src/direct-reader.ts",
    find: "gap ||= many && isAfterGap(message, messages);",
    replace: "gap &&= many && isAfterGap(message, messages);",
    withinSeeds: 600,
  },
  {
    name: "done-is-not-final",
    bug: "a failed effect is acknowledged as done",
    file: "services/director/src/director.ts",
    find: 'return { kind: "retry", delayMs, code };',
    replace: 'return { kind: "done" };',
    withinSeeds: 200,
  },
];
