/** Renders a kustomize directory and checks each object against the Kubernetes API's own schema. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  spec?: Record<string, unknown>;
  data?: Record<string, string>;
  [field: string]: unknown;
}

/** Fails with the remedy if kubectl is missing, because a manifest that was not rendered is not tested. */
export function renderKustomization(directory: string): Manifest[] {
  const own = fileURLToPath(new URL("../../.antiphon/tools/kubectl", import.meta.url));
  const kubectl = existsSync(own) ? own : "kubectl";
  let text: string;
  try {
    text = execFileSync(kubectl, ["kustomize", directory], { encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    const { code, stderr } = error as NodeJS.ErrnoException & { stderr?: string };
    if (code === "ENOENT")
      throw new Error("kubectl is missing: npm run setup -- --with-kubectl", { cause: error });
    throw new Error(`kubectl kustomize ${directory}: ${stderr ?? String(error)}`, { cause: error });
  }
  return parseAllDocuments(text).map((document) => withoutLineBreaks(document.toJS() as Manifest));
}

/** kustomize breaks long base64 into lines, which the API accepts but its schema does not describe. */
function withoutLineBreaks(manifest: Manifest): Manifest {
  if (manifest.kind !== "Secret" || manifest.data === undefined) return manifest;
  const data = Object.entries(manifest.data).map(([name, value]) => [name, value.replaceAll("\n", "")]);
  return { ...manifest, data: Object.fromEntries(data) as Record<string, string> };
}

/** The faults of an object: schema violations, and fields unknown to the schema. */
export async function faultsOf(manifest: Manifest): Promise<string[]> {
  const { apiVersion, kind } = manifest;
  const schemas = `kubernetes-models/${apiVersion}`;
  const module = (await import(/* @vite-ignore */ schemas)) as Record<string, unknown>;
  const model = module[kind] as { prototype: { validate(): void } } | undefined;
  if (model === undefined) return [`${apiVersion} has no kind ${kind}`];
  const reads = new Set<string>();
  try {
    model.prototype.validate.call(watchReads(manifest, "", reads));
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
  // The schema allows additional fields everywhere, so a field it did not evaluate is unknown.
  return pathsOf(manifest, "")
    .filter((path) => !reads.has(path))
    .map((path) => `unknown field ${path}`);
}

function watchReads<T extends object>(value: T, path: string, reads: Set<string>): T {
  return new Proxy(value, {
    get(target, key) {
      const found: unknown = Reflect.get(target, key);
      if (typeof key === "symbol") return found;
      reads.add(`${path}/${key}`);
      return typeof found === "object" && found !== null ? watchReads(found, `${path}/${key}`, reads) : found;
    },
  });
}

function pathsOf(value: unknown, path: string): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => {
    const own = `${path}/${key}`;
    return [...(Array.isArray(value) ? [] : [own]), ...pathsOf(child, own)];
  });
}
