import type { BlobRef, EvidenceFile } from "@antiphon/contracts";
import { validate } from "@antiphon/contracts";
import { describe, expect, test } from "vitest";
import { filesOf, manifestOf } from "./bundle.ts";
import type { Provenance } from "./bundle.ts";
import { factsWith, output, ran } from "../testing/dispatch.fixture.ts";
import { reportOf } from "./report.ts";

const blob: BlobRef = {
  bucket: "ANT_EVIDENCE_FILES",
  name: "sha256-x",
  digest: `sha256-${"A".repeat(43)}`,
  bytes: 3,
};
const provenance: Provenance = {
  environment: { provider: "docker" },
  tools: ["git version 2.39"],
  git: { base_commit: "a".repeat(40) },
  transcript: null,
  prepared: null,
  services: [],
  egress: null,
};

describe("filesOf", () => {
  test("the bundle has the paths of seed 001, and no empty log", () => {
    const facts = factsWith({
      checks: [ran("a", 0), ran("b", 1, { stdout: output("out"), stderr: output("err") })],
    });
    expect(
      filesOf(facts, { ...provenance, transcript: "{}" })
        .map((file) => file.path)
        .toSorted(),
    ).toEqual([
      "checks/2.stderr.txt",
      "checks/2.stdout.txt",
      "diff.patch",
      "provenance/environment.json",
      "provenance/git.json",
      "provenance/tools.json",
      "provenance/transcript.json",
    ]);
  });

  test("output that the sandbox-runner has stored is referred to, not stored again", () => {
    const facts = factsWith({ checks: [ran("a", 0, { stdout: { ...output("tail"), blob } })] });
    expect(filesOf(facts, provenance)).toContainEqual({ path: "checks/1.stdout.txt", blob });
  });

  test("an attempt that changed nothing has no diff.patch", () => {
    expect(filesOf(factsWith({ change: null }), provenance).map((file) => file.path)).not.toContain(
      "diff.patch",
    );
  });
});

const prepared: NonNullable<Provenance["prepared"]> = {
  ...{
    key: "0".repeat(64),
    image: "sha256:1",
    commands: ["npm ci"],
    found: [],
    decided_by: [],
    cached: true,
  },
  ...{ duration_ms: 1, layer: null, bytes: 0, files: 0, log: blob, packages: blob, egress: null },
};

test("the packages of the environment are part of the provenance, beside its log", () => {
  const paths = filesOf(factsWith(), { ...provenance, prepared }).map(({ path }) => path);
  expect(paths.filter((path) => /^environment|packages/.test(path))).toEqual([
    "environment/report.json",
    "environment/setup.log",
    "provenance/packages.json",
  ]);
});

test("how the agent was installed in another image is evidence as well", () => {
  const egress = {
    ...{ log: blob, requests: 1, refused: 0, bytes_up: 1, bytes_down: 1, recordings: [] },
    ...{ model_calls: 0, model_tokens: 0, model_usd_micro: 0 },
  };
  const agent = { ...prepared, packages: null, egress };
  const beside = { ...prepared, log: null, packages: null, agent };
  const paths = filesOf(factsWith(), { ...provenance, prepared: beside }).map(({ path }) => path);
  expect(paths.filter((path) => path.startsWith("environment/"))).toEqual([
    "environment/report.json",
    "environment/agent/setup.log",
    "environment/agent/requests.jsonl",
  ]);
});

test("the manifest is valid, sorted by path, and agrees with the report", () => {
  const facts = factsWith();
  const files: EvidenceFile[] = ["provenance/tools.json", "checks/1.stdout.txt", "diff.patch"].map(
    (path) => ({ path, blob }),
  );
  const report = reportOf(facts);
  const manifest = manifestOf({
    runId: "run_1",
    epoch: 1,
    associate: "as_1",
    baseCommit: "a".repeat(40),
    facts,
    report,
    files,
  });
  expect(validate("EvidenceManifest", manifest)).toMatchObject({ ok: true });
  expect(manifest.files.map((file) => file.path)).toEqual([
    "checks/1.stdout.txt",
    "diff.patch",
    "provenance/tools.json",
  ]);
  expect(manifest).toMatchObject({
    decision: "propose",
    summary: report.result.summary,
    files_changed: ["hello.txt"],
  });
});
