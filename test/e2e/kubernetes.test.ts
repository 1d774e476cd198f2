/**
 * The overlay for a local cluster, as the guide says and without a cluster: the images are built by the guide's commands, the
 * manifests are rendered by kubectl, and a Docker engine runs the pods (test/support/pods). NATS and the runners' engine are
 * the stand-ins of build-offline.mjs, since no image registry is asked.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { renderKustomization, type Manifest } from "../support/manifests.ts";
import { patient } from "../support/patience.ts";
import { Cluster } from "../support/pods/cluster.ts";
import { docker, succeeds } from "../support/pods/docker.ts";
import { freePort } from "../support/pods/free-port.ts";
import { ANTIPHON, ROOT, run } from "./support/program.ts";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";

const TAG = "pods-test";
const id = `antiphon-pods-${process.pid}`;
const directory = mkdtempSync(join(tmpdir(), "antiphon-kubernetes-"));
const overlay = join(directory, "k8s/overlays/local");
let cluster: Cluster;
let project: Project;
let env: Record<string, string>;

const succeed = async (command: string, args: readonly string[], cwd = ROOT): Promise<string> => {
  const { code, stdout, stderr } = await run(command, args, { cwd, timeoutMs: 300_000 });
  expect(code, `${command} ${args.join(" ")}: ${stdout}${stderr}`).toBe(0);
  return stdout;
};

/** The overlay with keys and users as the guide makes them, and images under a tag of this test. */
async function prepared(): Promise<Manifest[]> {
  cpSync(join(ROOT, "deploy"), directory, { recursive: true });
  const antiphon = (...args: string[]) => succeed(process.execPath, [ANTIPHON, ...args], overlay);
  await antiphon("keys", "make", "director-key.pem", "--trust", "trusted-keys.json");
  await antiphon("keys", "make", "runner-key.pem", "--trust", "trusted-runners.json");
  await antiphon("nats", "bootstrap", "nats-users");
  const file = join(overlay, "kustomization.yaml");
  const text = readFileSync(file, "utf8");
  writeFileSync(
    file,
    text.replaceAll("newTag: dev", `newTag: ${TAG}`).replace("sandbox:dev", `sandbox:${TAG}`),
  );
  return renderKustomization(overlay);
}

const imageFor = (image: string): string =>
  image.startsWith("nats:")
    ? `antiphon-nats:${TAG}`
    : image.startsWith("docker:")
      ? `antiphon-engine:${TAG}`
      : image;

beforeAll(async () => {
  await succeed(process.execPath, ["deploy/images/build-offline.mjs", TAG, "--with-engine"]);
  await succeed(process.execPath, ["deploy/images/sandbox-archive.mjs", TAG]);
  const manifests = await prepared();
  const port = await freePort();
  const place = { id, network: `${id}-bus`, manifests, imageFor, helper: `antiphon-egress:${TAG}` };
  cluster = new Cluster(place, { gateway: [`127.0.0.1:${port}:3001`] });
  project = makeProject(BROKEN_CALCULATOR);
  // As the overlay's secret says.
  env = { ANTIPHON_GATEWAY_URL: `http://127.0.0.1:${port}`, ANTIPHON_TOKEN: "local-only-not-a-secret" };
}, patient(400_000));

afterAll(() => {
  cluster.stop();
  project.remove();
  rmSync(directory, { recursive: true, force: true });
  const ours = docker([
    "images",
    "--format",
    "{{.Repository}}:{{.Tag}}",
    "--filter",
    `reference=antiphon-*:${TAG}`,
  ]);
  docker(["rmi", ...ours.split("\n")]);
}, patient(120_000));

test(
  "every pod of the local overlay becomes ready as written, and the runner's engine has the sandbox image",
  async () => {
    await cluster.run();
    const answer = await run(process.execPath, [ANTIPHON, "images", "list"], { env });
    expect(answer.stdout).toContain(`antiphon-sandbox:${TAG}`);
    expect(succeeds(["image", "inspect", `antiphon-sandbox:${TAG}`])).toBe(false); // on the machine's own engine
  },
  patient(400_000),
);

test(
  "a repository pushed through the Director's pod is worked on, and the landed commit is fetched",
  async () => {
    const director = cluster.pod("director").container();
    docker(["exec", director, "git", "init", "--quiet", "--bare", "--initial-branch=main", "/repos/app.git"]);
    // The guide says `kubectl exec`, which reaches the same program in the same container.
    const remote = `ext::docker exec -i ${director} %S /repos/app.git`;
    project.git("-c", "protocol.ext.allow=always", "push", "--quiet", remote, "main");
    const args = [
      "run",
      "Fix the broken add",
      "--repo",
      "/repos/app.git",
      "--command",
      FIX,
      "--check",
      CHECK,
    ];
    const ended = await run(process.execPath, [ANTIPHON, ...args, "--json"], { env });
    expect(ended.code, ended.stdout + ended.stderr).toBe(0);
    project.git(
      "-c",
      "protocol.ext.allow=always",
      "fetch",
      "--quiet",
      remote,
      "refs/heads/antiphon/*:refs/landed/*",
    );
    const landed = project.git("for-each-ref", "--format=%(refname)", "refs/landed").trim();
    expect(project.git("show", `${landed}:add.js`)).toBe("module.exports = (a, b) => a + b;\n");
  },
  patient(120_000),
);
