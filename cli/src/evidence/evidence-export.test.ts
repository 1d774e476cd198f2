import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { digestOfJson } from "@antiphon/contracts";
import { exportEvidence } from "./evidence-export.ts";
import { GatewayClient } from "../gateway/gateway-client.ts";

let scratch = "";
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), "antiphon-export-"));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

const digestOf = (text: string): string => `sha256-${createHash("sha256").update(text).digest("base64url")}`;

/** A gateway with one bundle of the given files. */
class OneBundle extends GatewayClient {
  readonly #files: Readonly<Record<string, { said: string; sent: string }>>;

  constructor(files: Readonly<Record<string, { said: string; sent: string }>>) {
    super("http://127.0.0.1:1", null);
    this.#files = files;
  }

  override get<T>(): Promise<T> {
    const files = Object.entries(this.#files).map(([path, { said }]) => ({
      path,
      blob: { digest: digestOf(said) },
    }));
    const manifest = { files };
    const bundle = { taskId: "T-001", epoch: 1, kind: "attempt", manifest, digest: this.recorded(manifest) };
    return Promise.resolve({ bundles: [bundle], contracts: [], router: null } as T);
  }

  /** The digest of the manifest that the run's record holds. */
  recorded(manifest: object): string {
    return digestOfJson(manifest);
  }

  override bytes(path: string): Promise<Buffer> {
    const name = decodeURIComponent(path.split("/files/")[1] ?? "");
    return Promise.resolve(Buffer.from(this.#files[name]?.sent ?? ""));
  }
}

const good = (text: string) => ({ said: text, sent: text });
const exported = (files: ConstructorParameters<typeof OneBundle>[0], out: string) =>
  exportEvidence(new OneBundle(files), "run_a", join(scratch, out));

/** Every file below a directory with its text. */
function tree(out: string): Record<string, string> {
  const paths = readdirSync(join(scratch, out), { recursive: true, withFileTypes: true });
  const files = paths.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    files.sort().map((path) => [path.slice(join(scratch, out).length), readFileSync(path, "utf8")]),
  );
}

test("cli/C1: a file whose bytes differ from its manifest's digest is refused and not written", async () => {
  const files = { "a.txt": good("a"), "b.txt": { said: "b", sent: "B" } };
  await expect(exported(files, "out")).rejects.toMatchObject({ code: "ANT_BLOB_CORRUPT" });
  const written = Object.keys(tree("out"));
  expect(written.some((path) => path.endsWith("a.txt"))).toBe(true);
  expect(written.filter((path) => path.endsWith("b.txt"))).toEqual([]);
});

test("cli/C1: a manifest that differs from the digest in its record is refused, and nothing of it is written", async () => {
  class Replaced extends OneBundle {
    override recorded(): string {
      return digestOfJson({ files: [] });
    }
  }
  const gateway = new Replaced({ "a.txt": good("a") });
  await expect(exportEvidence(gateway, "run_a", join(scratch, "out"))).rejects.toMatchObject({
    code: "ANT_BLOB_CORRUPT",
  });
  expect(Object.keys(tree("out")).filter((path) => /manifest\.json|a\.txt/.test(path))).toEqual([]);
});

test.each(["../../../../../escaped.txt", "a/../../../../../../escaped.txt"])(
  "cli/C1: a manifest that names %s is refused, and nothing is written there",
  async (path) => {
    await expect(exported({ [path]: good("x") }, "deep/out")).rejects.toMatchObject({
      code: "ANT_EVIDENCE_NOT_FOUND",
    });
    for (const place of [scratch, join(scratch, "deep"), join(scratch, "..")])
      expect(existsSync(join(place, "escaped.txt"))).toBe(false);
  },
);

test("the same run gives the same files, in an empty directory and over an earlier export", async () => {
  const files = { "diff.patch": good("+1\n"), "checks/1.log": good("ok") };
  await exported(files, "one");
  const first = tree("one");
  expect(Object.keys(first).length).toBeGreaterThan(3);
  await exported(files, "two");
  await exported(files, "one");
  expect(tree("two")).toEqual(first);
  expect(tree("one")).toEqual(first);
});
