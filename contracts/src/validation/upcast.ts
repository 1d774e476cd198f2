/**
 * Old versions, brought up to date. A reader names the version that was written (header `Antiphon-Schema`), checks it
 * against that version's own schema, and carries it up step by step.
 *
 * Invariants:
 *  O1 Every older version in the registry has a step to the next one.
 *  O2 A step is pure and total on valid documents; its result is valid.
 *  O3 A version this reader does not know is refused, never guessed at; what every object has (`constructor`) is
 *     the name of none.
 */
import { AntiphonError } from "../errors.ts";
import { registry, schemaNameOf } from "../registry/registry.ts";
import type {
  SandboxJob,
  SandboxJobFile,
  SandboxJobV1,
  SandboxResult,
  SandboxResultV1,
} from "../seeds/sandbox-job.ts";
import { assertValid, type Reader } from "./validate.ts";

type Step = { readonly to: string; readonly up: (value: never) => unknown };

const withFiles = (files: Record<string, string>): Record<string, SandboxJobFile> =>
  Object.fromEntries(
    Object.entries(files).map(([path, content]) => [path, { content, encoding: "utf8", mode: "100644" }]),
  );

/** By the id that was written. */
const STEPS: Readonly<Record<string, Step>> = {
  "SandboxJob.v0": {
    to: "SandboxJob.v1",
    up: (job: SandboxJob): SandboxJobV1 => ({ ...job, files: withFiles(job.files) }),
  },
  "SandboxResult.v0": {
    to: "SandboxResult.v1",
    up: (result: SandboxResult): SandboxResultV1 => ({ ...result, files: withFiles(result.files) }),
  },
};

const stepOf = (id: string): Step | undefined => (Object.hasOwn(STEPS, id) ? STEPS[id] : undefined); // O3

export const UPCASTERS: readonly { from: string; to: string }[] = Object.entries(STEPS).map(
  ([from, { to }]) => ({ from, to }),
);

/** A valid document of version `id`, in the newest version there is. */
export function upcast(id: string, value: unknown): { id: string; value: unknown } {
  let current = { id, value };
  for (let step = stepOf(current.id); step !== undefined; step = stepOf(current.id)) {
    current = { id: step.to, value: step.up(current.value as never) };
  }
  return current;
}

/** Reads a document written as `id`: checked as that version, brought up to date, checked again. */
export function readVersion(
  id: string,
  value: unknown,
  reader: Reader = "tolerant",
): { id: string; value: unknown } {
  const name = schemaNameOf(id);
  if (name === null || registry[name].id !== id) {
    throw new AntiphonError("ANT_CONTRACT_VERSION", `this reader does not know ${id.slice(0, 80)}`); // O3
  }
  const old = assertValid(name, value, { reader });
  const current = upcast(id, old);
  if (current.id === id) return current;
  const newer = schemaNameOf(current.id);
  if (newer === null) throw new AntiphonError("ANT_CONTRACT_VERSION", `${current.id} is not in the registry`);
  return { id: current.id, value: assertValid(newer, current.value, { reader }) };
}
