/**
 * All files derived from the contracts, as path and content. `npm run generate` writes them; `--check` and a unit test
 * compare them with the committed ones.
 */
import { contractList } from "./explain.ts";
import { jsonSchemaOf, DIALECT } from "../registry/json-schema.ts";
import { registry, SCHEMA_NAMES, type SchemaName } from "../registry/registry.ts";
import { SKILLS } from "../seeds/skill-result.ts";
import { contractPage } from "./contract-page.ts";
import { cell, page, table } from "./markdown.ts";
import { rightsPage } from "./rights-page.ts";
import {
  errorsPage,
  headersPage,
  limitsPage,
  metricsPage,
  runOptionsPage,
  subjectsPage,
  topologyPage,
} from "./table-pages.ts";

export const SCHEMA_FOLDER = "contracts/schemas";
export const REFERENCE_FOLDER = "docs/reference";

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** `exampleFor` gives the first golden fixture; `conformance` is the page of seed statements. */
export function generatedFiles(
  exampleFor: (name: SchemaName) => unknown,
  conformance: string,
): Map<string, string> {
  const files = new Map<string, string>();
  for (const name of SCHEMA_NAMES) {
    const { id } = registry[name];
    files.set(`${SCHEMA_FOLDER}/${id}.json`, json(jsonSchemaOf(name)));
    files.set(`${REFERENCE_FOLDER}/contracts/${id}.md`, contractPage(name, exampleFor(name)));
  }
  // Seed 001 names these files. They hold the same schemas.
  files.set(`${SCHEMA_FOLDER}/tasks/schema.json`, json(jsonSchemaOf("TaskContract")));
  files.set(`${SCHEMA_FOLDER}/evidence/manifest.schema.json`, json(jsonSchemaOf("EvidenceManifest")));
  for (const [skill, io] of Object.entries(SKILLS)) {
    const document = {
      skill,
      input: { $schema: DIALECT, ...io.input },
      output: { $schema: DIALECT, ...io.output },
    };
    files.set(`${SCHEMA_FOLDER}/skills/${skill}/io_schema.json`, json(document));
  }
  files.set(`${REFERENCE_FOLDER}/errors.md`, errorsPage());
  files.set(`${REFERENCE_FOLDER}/limits.md`, limitsPage());
  files.set(`${REFERENCE_FOLDER}/metrics.md`, metricsPage());
  files.set(`${REFERENCE_FOLDER}/run-options.md`, runOptionsPage());
  files.set(`${REFERENCE_FOLDER}/subjects.md`, subjectsPage());
  files.set(`${REFERENCE_FOLDER}/topology.md`, topologyPage());
  files.set(`${REFERENCE_FOLDER}/nats-rights.md`, rightsPage());
  files.set(`${REFERENCE_FOLDER}/headers.md`, headersPage());
  files.set(`${REFERENCE_FOLDER}/seed-conformance.md`, conformance);
  files.set(`${REFERENCE_FOLDER}/README.md`, indexPage());
  return files;
}

function indexPage(): string {
  const rows = contractList().map(({ id, source, description }) => [
    `[\`${id}\`](contracts/${id}.md)`,
    source,
    cell(description),
  ]);
  return page([
    "# Reference",
    "[Errors](errors.md), [limits](limits.md), [metrics](metrics.md), [run options](run-options.md), [subjects](subjects.md), [streams, consumers and buckets](topology.md), " +
      "[headers](headers.md), [NATS rights](nats-rights.md), [how each statement of the seeds is shown](seed-conformance.md).",
    "## Contracts",
    table(["Contract", "Source", "What it is"], rows),
  ]);
}
