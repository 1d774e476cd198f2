/**
 * Brings documents of older versions up to date. A reader names the version of the document (header `Antiphon-Schema`),
 * checks it against that version's schema, and converts it step by step.
 *
 * Promises:
 *   contracts/C3 Because released documents stay in use, every older version has a pure step to the next one that turns
 *     each valid document into a valid document, and an unknown version is refused, never guessed.
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

/** By the id of the version to convert. */
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

const stepOf = (id: string): Step | undefined => (Object.hasOwn(STEPS, id) ? STEPS[id] : undefined); // contracts/C3: `constructor` is no version

export const UPCASTERS: readonly { from: string; to: string }[] = Object.entries(STEPS).map(
  ([from, { to }]) => ({ from, to }),
);

/** Converts a valid document of version `id` to the newest version. */
export function upcast(id: string, value: unknown): { id: string; value: unknown } {
  let current = { id, value };
  for (let step = stepOf(current.id); step !== undefined; step = stepOf(current.id)) {
    current = { id: step.to, value: step.up(current.value as never) };
  }
  return current;
}

/** Reads a document of version `id`: checks it, converts it, and checks the result. */
export function readVersion(
  id: string,
  value: unknown,
  reader: Reader = "tolerant",
): { id: string; value: unknown } {
  const name = schemaNameOf(id);
  if (name === null || registry[name].id !== id) {
    throw new AntiphonError("ANT_CONTRACT_VERSION", `this reader does not know ${id.slice(0, 80)}`); // contracts/C3
  }
  const old = assertValid(name, value, { reader });
  const current = upcast(id, old);
  if (current.id === id) return current;
  const newer = schemaNameOf(current.id);
  if (newer === null) throw new AntiphonError("ANT_CONTRACT_VERSION", `${current.id} is not in the registry`);
  return { id: current.id, value: assertValid(newer, current.value, { reader }) };
}
