/**
 * `npm run generate`: writes everything that is derived from the contracts (JSON Schema files, reference pages).
 * `--check` writes nothing and fails when what is committed differs.
 * `--release <version>` also pins the shapes and fixtures as released (contracts/released/<version>.json).
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { registry, SCHEMA_NAMES, type SchemaName } from "@antiphon/contracts";
import {
  generatedFiles,
  REFERENCE_FOLDER,
  SCHEMA_FOLDER,
} from "@antiphon/contracts/reference/generated-files";
import { conformancePage } from "../contracts/conformance/index.ts";
import { releaseOf } from "../contracts/conformance/release.ts";
import { CLIENT_API, clientApi } from "./client-api.ts";
import { INVARIANTS_PAGE, invariantsPage } from "./promise-index.ts";
import { PACK_PROGRAMS, packPrograms } from "./pack-programs.ts";
import { PROTECTED_PATHS_PAGE, protectedPathsPage } from "./protected-paths.ts";
import { SERVICE_DOCKERFILE, serviceDockerfile } from "./service-images.ts";

const root = join(import.meta.dirname, "..");

function firstFixture(name: SchemaName): unknown {
  const text = readFileSync(join(root, "contracts/fixtures", `${registry[name].id}.json`), "utf8");
  const { valid } = JSON.parse(text) as { valid: Record<string, unknown> };
  return Object.values(valid)[0];
}

/** Paths of committed generated files that nothing generates any more. */
function stale(files: ReadonlyMap<string, string>): string[] {
  return [SCHEMA_FOLDER, REFERENCE_FOLDER].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
      .filter((path) => !files.has(path)),
  );
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(join(root, path), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

const files = new Map(generatedFiles(firstFixture, conformancePage()));
files.set(CLIENT_API, await clientApi());
files.set(PACK_PROGRAMS, await packPrograms(root));
files.set(INVARIANTS_PAGE, invariantsPage(root));
files.set(PROTECTED_PATHS_PAGE, protectedPathsPage());
files.set(SERVICE_DOCKERFILE, serviceDockerfile(root));
for (const folder of [SCHEMA_FOLDER, REFERENCE_FOLDER]) mkdirSync(join(root, folder), { recursive: true });
const changed = [...files].filter(([path, content]) => readOrNull(path) !== content).map(([path]) => path);
const extra = stale(files);

if (process.argv.includes("--check")) {
  for (const path of changed) console.log(`differs: ${path}`);
  for (const path of extra) console.log(`not generated any more: ${path}`);
  if (changed.length + extra.length > 0) {
    console.log("run `npm run generate` and commit the result");
    process.exitCode = 1;
  }
} else {
  for (const path of changed) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), files.get(path) ?? "");
  }
  for (const path of extra) rmSync(join(root, path));
  console.log(`${files.size} files, ${changed.length} written, ${extra.length} removed`);
}

const at = process.argv.indexOf("--release");
if (at > 0) {
  const version = process.argv[at + 1] ?? "";
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error("--release <major.minor.patch>");
  const path = join(root, "contracts/released", `${version}.json`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(releaseOf(version), null, 1)}\n`);
  console.log(
    `pinned ${SCHEMA_NAMES.length} shapes and their fixtures in contracts/released/${version}.json`,
  );
}
