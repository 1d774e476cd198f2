/** What the schema of CycloneDX 1.5 says of a bill of materials. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Ajv } from "ajv";

const PACKAGE = createRequire(import.meta.url).resolve("@cyclonedx/cyclonedx-library/package.json");

function schema(name: string): object {
  const file = join(dirname(PACKAGE), "res/schema", `${name}.SNAPSHOT.schema.json`);
  return JSON.parse(readFileSync(file, "utf8")) as object;
}

export function faultsOfBill(bill: unknown): unknown[] {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  for (const name of ["spdx", "jsf-0.82"])
    ajv.addSchema(schema(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  const accepts = ajv.compile(schema("bom-1.5"));
  return accepts(bill) ? [] : [...(accepts.errors ?? [])];
}
