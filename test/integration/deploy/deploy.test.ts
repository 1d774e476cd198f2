import { spawn } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { makeKey } from "../../../cli/src/keys/key-files.ts";
import { bootstrapUsers } from "../../../cli/src/nats/nats-users.ts";
import { limits } from "../../../contracts/src/limits.ts";
import { ROLES } from "../../../contracts/src/roles.ts";
import {
  connectBus,
  createLogger,
  provision,
  readNatsUser,
  type BusOptions,
} from "../../../runtime/src/index.ts";
import type { Manifest } from "../../support/manifests.ts";
import { faultsOf, renderKustomization } from "../../support/manifests.ts";
import { natsServerBinary } from "../../support/nats.ts";
import { patient } from "../../support/patience.ts";
import { freePort } from "../../support/pods/free-port.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");

interface Container {
  name: string;
  image: string;
  env?: { name: string; value?: string; valueFrom?: Record<string, { name: string }> }[];
  envFrom?: Record<string, { name: string }>[];
  ports?: { name: string; containerPort: number }[];
  resources?: { requests?: object; limits?: { memory?: string } };
  securityContext?: Record<string, unknown>;
  [probe: string]: unknown;
}
interface Pod {
  automountServiceAccountToken?: boolean;
  securityContext?: Record<string, unknown>;
  containers: Container[];
  initContainers?: Container[];
  volumes?: Record<string, unknown>[];
}
interface ComposeService {
  image: string;
  user?: string;
  build?: { dockerfile: string; target: string };
  environment?: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  [option: string]: unknown;
}

const base = renderKustomization(join(root, "deploy/k8s/base"));
/** Creates the keys as the guide says, but in a copy of the overlay's directory. */
function renderLocal(): Manifest[] {
  const copy = mkdtempSync(join(tmpdir(), "antiphon-k8s-"));
  try {
    cpSync(join(root, "deploy"), copy, { recursive: true });
    const overlay = join(copy, "k8s/overlays/local");
    makeKey(join(overlay, "director-key.pem"), join(overlay, "trusted-keys.json"));
    makeKey(join(overlay, "runner-key.pem"), join(overlay, "trusted-runners.json"));
    bootstrapUsers(join(overlay, "nats-users"), 1);
    return renderKustomization(overlay);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
const local = renderLocal();
const compose = parse(read("deploy/compose/compose.yaml"), { merge: true }) as {
  services: Record<string, ComposeService>;
};

const of = (manifests: Manifest[], kind: string): Manifest[] => manifests.filter((one) => one.kind === kind);
const podOf = (workload: Manifest): Pod => (workload.spec as { template: { spec: Pod } }).template.spec;
const workloads = (manifests: Manifest[]): Manifest[] => [
  ...of(manifests, "Deployment"),
  ...of(manifests, "StatefulSet"),
];
const containersOf = (workload: Manifest): Container[] => {
  const pod = podOf(workload);
  return [...(pod.initContainers ?? []), ...pod.containers];
};

describe("Kubernetes manifests", () => {
  it.each([
    ["base", base],
    ["overlays/local", local],
  ])("%s renders objects the Kubernetes API knows, without an unknown field", async (_, manifests) => {
    const faults = await Promise.all(
      manifests.map(async (one) => ({
        object: `${one.kind}/${one.metadata.name}`,
        faults: await faultsOf(one),
      })),
    );
    expect(faults.filter((one) => one.faults.length > 0)).toEqual([]);
    expect(manifests.length).toBeGreaterThan(20);
  });

  it("the component for repositories by URL gives the Director, and nothing else, a way out and credentials", async () => {
    const copy = mkdtempSync(join(tmpdir(), "antiphon-k8s-"));
    try {
      cpSync(join(root, "deploy"), copy, { recursive: true });
      const overlay = join(copy, "k8s/overlays/urls");
      mkdirSync(overlay);
      const text = "resources: [../../base]\ncomponents: [../../components/remote-repositories]\n";
      writeFileSync(join(overlay, "kustomization.yaml"), text);
      const manifests = renderKustomization(overlay);
      for (const one of manifests) expect(await faultsOf(one), one.metadata.name).toEqual([]);
      const served = of(manifests, "Deployment").filter((one) =>
        JSON.stringify(one).includes("antiphon-git"),
      );
      expect(served.map((one) => one.metadata.name)).toEqual(["director"]);
      const [service] = podOf(served[0] as Manifest).containers;
      expect(service?.envFrom).toHaveLength(2);
      expect(JSON.stringify(service?.env)).toContain("ANTIPHON_DIRECTOR_KEY");
      const way = of(manifests, "NetworkPolicy").find(
        (one) => one.metadata.name === "director-to-git-servers",
      );
      expect(way?.spec).toMatchObject({
        podSelector: { matchLabels: { "app.kubernetes.io/name": "director" } },
      });
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  });

  it("finds a misspelt field, however deep", async () => {
    const router = structuredClone(of(base, "Deployment").find((one) => one.metadata.name === "router"));
    const container = podOf(router as Manifest).containers[0] as Container;
    container.securityContext = { readOnlyRootFileSystem: true };
    expect(await faultsOf(router as Manifest)).toEqual([
      "unknown field /spec/template/spec/containers/0/securityContext/readOnlyRootFileSystem",
    ]);
  });

  it("deploys every role from its own image, under a disruption budget", () => {
    const deployments = of(base, "Deployment");
    expect(deployments.map((one) => one.metadata.name).sort()).toEqual([...ROLES].sort());
    for (const { metadata } of workloads(base)) {
      const budget = of(base, "PodDisruptionBudget").find(
        (one) => one.metadata.name === metadata.name && one.metadata.namespace === metadata.namespace,
      );
      expect(budget, metadata.name).toBeDefined();
    }
    for (const deployment of deployments) {
      const service = podOf(deployment).containers[0] as Container;
      expect(service.image).toMatch(new RegExp(`^antiphon-${deployment.metadata.name}:`));
    }
  });

  it("hardens every container but the sandboxes' engine, and gives no pod an API token", () => {
    for (const workload of workloads(base)) {
      const pod = podOf(workload);
      expect(pod.automountServiceAccountToken, workload.metadata.name).toBe(false);
      expect(pod.securityContext?.["seccompProfile"], workload.metadata.name).toEqual({
        type: "RuntimeDefault",
      });
      expect(JSON.stringify(pod.volumes)).not.toContain("hostPath");
      for (const container of containersOf(workload)) {
        const where = `${workload.metadata.name}/${container.name}`;
        expect(container.resources?.limits?.memory, where).toBeDefined();
        expect(container.resources?.requests, where).toHaveProperty("cpu");
        expect(container["startupProbe"], where).toBeDefined();
        expect(container["livenessProbe"], where).toBeDefined();
        if (where === "sandbox-runner/engine") continue;
        expect(container["readinessProbe"], where).toBeDefined();
        expect({ ...pod.securityContext, ...container.securityContext }, where).toMatchObject({
          runAsNonRoot: true,
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
      }
    }
  });

  it("gives those that keep trees disk for all that they keep and for the largest one while it arrives", () => {
    for (const role of ["associate", "sandbox-runner"]) {
      const workload = of(base, "Deployment").find((one) => one.metadata.name === role) as Manifest;
      const state = podOf(workload).volumes?.find((one) => one["name"] === "state");
      const { sizeLimit } = state?.["emptyDir"] as { sizeLimit: string };
      const gib = Number(/^(\d+)Gi$/.exec(sizeLimit)?.[1]);
      expect(gib * 1024 ** 3, role).toBeGreaterThan(3 * limits.treeBytes);
    }
  });

  it("denies all traffic by default in every namespace", () => {
    for (const { metadata } of of(base, "Namespace")) {
      const policy = of(base, "NetworkPolicy").find(
        (one) => one.metadata.name === "deny-all" && one.metadata.namespace === metadata.name,
      );
      expect(policy?.spec).toEqual({ podSelector: {}, policyTypes: ["Ingress", "Egress"] });
    }
  });

  it("overlays/local names only images that the guide's commands build and load, or that a registry has by digest", () => {
    const images = workloads(local)
      .flatMap(containersOf)
      .map(({ image }) => image);
    const [, kubernetes = ""] = read("docs/guides/deploy.md").split("\n## Kubernetes\n");
    const [guide = ""] = kubernetes.split("\n## ");
    const built = /^for role in (.+); do$/m.exec(guide)?.[1]?.split(" ") ?? [];
    expect(built.sort()).toEqual([...ROLES].sort());
    expect(guide).toContain(
      "docker build -f deploy/images/service/Dockerfile --target $role -t antiphon-$role:dev .",
    );
    expect(guide).toContain("node deploy/images/sandbox-archive.mjs");
    const made = [...built, "sandbox-archive"].map((name) => `antiphon-${name}:dev`);
    expect(/^kind load docker-image (.+)$/m.exec(guide)?.[1]).toBe(
      "$(docker images --format '{{.Repository}}:{{.Tag}}' 'antiphon-*:dev')",
    );
    expect(images.filter((image) => !/@sha256:[0-9a-f]{64}$/.test(image)).sort()).toEqual(made.sort());
  });

  it("overlays/local gives the runner's engine the sandbox image before it starts, under the name that the runner asks for", () => {
    const runner = of(local, "Deployment").find((one) => one.metadata.name === "sandbox-runner") as Manifest;
    const [archive, engine] = podOf(runner).initContainers as [Container, Container];
    expect([archive.name, engine.name]).toEqual(["sandbox-archive", "engine"]);
    expect(archive.securityContext).toMatchObject({ runAsNonRoot: true, capabilities: { drop: ["ALL"] } });
    const config = of(local, "ConfigMap").find((one) => one.metadata.name.startsWith("sandbox-config-"));
    expect(config?.data?.["ANTIPHON_SANDBOX_IMAGE"]).toBe("antiphon-sandbox:dev");
    expect(read("deploy/images/sandbox-archive.mjs")).toContain(
      'const named = { repository: "antiphon-sandbox", tag }',
    );
  });

  it("overlays/local asks for less than two cores and four GB in all", () => {
    const mebibytes = (text: string): number => Number.parseFloat(text) * (text.endsWith("Gi") ? 1024 : 1);
    const cores = (text: string): number =>
      text.endsWith("m") ? Number.parseFloat(text) / 1000 : Number(text);
    const asked = workloads(local).flatMap((workload) =>
      containersOf(workload).map(({ resources }) => resources?.requests as { cpu: string; memory: string }),
    );
    expect(asked.reduce((sum, { cpu }) => sum + cores(cpu), 0)).toBeLessThan(1.5);
    expect(asked.reduce((sum, { memory }) => sum + mebibytes(memory), 0)).toBeLessThan(3000);
    for (const one of workloads(local)) expect((one.spec as { replicas: number }).replicas).toBe(1);
  });

  it("refers only to config maps and secrets that are in the same namespace", () => {
    const known = ["ConfigMap", "Secret"].flatMap((kind) =>
      of(local, kind).map((one) => `${one.metadata.namespace}/${one.metadata.name}`),
    );
    for (const workload of workloads(local)) {
      const names = containersOf(workload).flatMap((container) => [
        ...(container.envFrom ?? []).flatMap((source) => Object.values(source)),
        ...(container.env ?? []).flatMap((variable) => Object.values(variable.valueFrom ?? {})),
      ]);
      for (const { name } of names.filter((one) => one.name !== undefined && !("optional" in one)))
        expect(known, workload.metadata.name).toContain(`${workload.metadata.namespace}/${name}`);
    }
  });

  it("gives the trusted keys to every service, read-only, and the Director's own key to the Director alone", () => {
    const mapOf = (namespace?: string) =>
      of(local, "ConfigMap").find(
        ({ metadata }) => metadata.namespace === namespace && metadata.name.startsWith("trusted-keys-"),
      );
    for (const deployment of of(local, "Deployment")) {
      type Mounted = { name: string; configMap?: { name: string } };
      const volumes = (podOf(deployment).volumes ?? []) as Mounted[];
      const map = mapOf(deployment.metadata.namespace);
      expect(Object.keys(map?.data ?? {})).toEqual(["trusted-keys.json"]);
      const volume = volumes.find(({ name }) => name === "trusted-keys");
      expect(volume?.configMap?.name, deployment.metadata.name).toBe(map?.metadata.name);
      const service = podOf(deployment).containers[0] as Container & { volumeMounts: object[] };
      expect(service.volumeMounts).toContainEqual({
        ...{ name: "trusted-keys", mountPath: "/etc/antiphon-trust", readOnly: true },
      });
    }
    const holders = of(local, "Deployment").filter((one) => JSON.stringify(one).includes("director-key"));
    expect(holders.map(({ metadata }) => metadata.name)).toEqual(["director"]);
  });

  it("gives the runner's key to the sandbox-runner alone, and the trusted runners to the Director", () => {
    const holding = (name: string): string[] =>
      of(local, "Deployment")
        .filter((one) => JSON.stringify(podOf(one).volumes ?? []).includes(`"${name}-`))
        .map(({ metadata }) => metadata.name);
    expect(holding("runner-key")).toEqual(["sandbox-runner"]);
    expect(holding("trusted-runners")).toEqual(["director"]);
  });

  it("gives each service the seed of its own NATS user, in its own namespace, and the server the public keys", () => {
    for (const role of ROLES) {
      const deployment = of(local, "Deployment").find(({ metadata }) => metadata.name === role) as Manifest;
      const seeds = containersOf(deployment).flatMap(({ env = [] }) =>
        env.filter(({ name }) => name === "ANTIPHON_NATS_CREDS").map(({ valueFrom }) => valueFrom),
      );
      const [secret] = of(local, "Secret").filter(
        ({ metadata }) =>
          metadata.name.startsWith(`nats-user-${role}-`) &&
          metadata.namespace === deployment.metadata.namespace,
      );
      expect(seeds, role).toEqual([
        { secretKeyRef: { name: secret?.metadata.name, key: "seed", optional: true } },
      ]);
    }
    const config = of(local, "ConfigMap").find(({ metadata }) => metadata.name.startsWith("nats-config-"));
    expect(config?.data?.["nats.conf"]).toContain("include ./auth.conf");
    expect(config?.data?.["auth.conf"]).toContain("ANTIPHON_SANDBOX_RUNNER {");
    expect(config?.data?.["auth.conf"]).not.toMatch(/\bSU[A-Z2-7]{56}/);
  });

  it("keeps secrets out of the base", () => {
    expect(of(base, "Secret")).toEqual([]);
  });
});

describe("the compose file", () => {
  it("runs NATS and every role, each from the Dockerfile's target of its name", () => {
    expect(Object.keys(compose.services).sort()).toEqual([...ROLES, "nats"].sort());
    const targets = [...read("deploy/images/service/Dockerfile").matchAll(/^FROM \S+ AS (\S+)$/gm)].map(
      (m) => m[1],
    );
    for (const role of ROLES) {
      expect(compose.services[role]?.build?.target).toBe(role);
      expect(compose.services[role]?.build?.dockerfile).toBe("deploy/images/service/Dockerfile");
      expect(targets).toContain(role);
    }
  });

  it("hardens every service and bounds what it may use", () => {
    for (const [name, service] of Object.entries(compose.services)) {
      expect(service, name).toMatchObject({
        read_only: true,
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
        pids_limit: expect.any(Number) as number,
        mem_limit: expect.any(String) as string,
      });
    }
  });

  it("publishes on loopback only", () => {
    const ports = Object.values(compose.services).flatMap((service) => service.ports ?? []);
    expect(ports.length).toBeGreaterThan(0);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it("gives the engine's socket to the sandbox-runner and the repositories to the director, to nobody else", () => {
    const holders = (needle: string): string[] =>
      Object.entries(compose.services)
        .filter(([, service]) => (service.volumes ?? []).some((volume) => volume.includes(needle)))
        .map(([name]) => name);
    expect(holders("docker.sock")).toEqual(["sandbox-runner"]);
    expect(holders("ANTIPHON_REPOS")).toEqual(["director"]);
  });

  it("gives the trusted keys to every service, and lets only the director write them and hold its own key", () => {
    for (const role of ROLES) {
      const { environment = {}, volumes = [] } = compose.services[role] ?? { image: "" };
      expect(environment["ANTIPHON_TRUSTED_KEYS"], role).toBe("/var/lib/antiphon-trust/trusted-keys.json");
      const mode = role === "director" ? "" : ":ro";
      expect(volumes, role).toContain(`trusted-keys:/var/lib/antiphon-trust${mode}`);
      expect(volumes.some((volume) => volume.includes("director-keys:"))).toBe(role === "director");
    }
  });

  it("gives the runner's key to the sandbox-runner alone, and the trusted runners to the director, read-only", () => {
    const mounts = (needle: string): string[] =>
      Object.entries(compose.services).flatMap(([name, { volumes = [] }]) =>
        volumes.filter((volume) => volume.startsWith(needle)).map((volume) => `${name} ${volume}`),
      );
    expect(mounts("runner-keys:")).toEqual(["sandbox-runner runner-keys:/var/lib/antiphon-keys"]);
    expect(mounts("trusted-runners:")).toEqual([
      "director trusted-runners:/var/lib/antiphon-runners:ro",
      "sandbox-runner trusted-runners:/var/lib/antiphon-runners",
    ]);
  });
});

describe("deploy/compose/nats-users.yaml", () => {
  it("gives each service the seed of its own NATS user and no token, and the server the accounts", () => {
    const { services } = parse(read("deploy/compose/nats-users.yaml")) as {
      services: Record<string, { env_file?: string[]; environment?: object; volumes?: string[] }>;
    };
    expect(Object.keys(services).sort()).toEqual([...ROLES, "nats"].sort());
    for (const role of ROLES)
      expect(services[role], role).toEqual({
        env_file: [`\${ANTIPHON_NATS_USERS}/${role}.env`],
        environment: { ANTIPHON_NATS_TOKEN: "" },
      });
    // The same place in the container, so that it takes the place of the token.
    const place = (volumes: readonly string[] = []) =>
      volumes.filter((one) => one.endsWith(":/etc/nats/auth.conf:ro"));
    expect(place(services["nats"]?.volumes)[0]).toMatch(/\/accounts\.conf:/);
    expect(place(compose.services["nats"]?.volumes)).toEqual(["../nats/token.conf:/etc/nats/auth.conf:ro"]);
  });
});

describe("the settings of deploy/", () => {
  /** Read by nats.conf, by docker, and by node. */
  const foreign = ["NATS_SERVER_NAME", "DOCKER_HOST", "TMPDIR"];

  it("are read by the code: every variable is named in a config.ts", () => {
    const sources = readdirSync(root, { recursive: true, encoding: "utf8" })
      .filter((path) => /^(runtime|services)\/.*\/config\.ts$/.test(path) && !path.includes("node_modules"))
      .map(read)
      .join("\n");
    const inCompose = Object.entries(compose.services).flatMap(([, one]) =>
      Object.keys(one.environment ?? {}),
    );
    const inPods = workloads(local).flatMap((one) =>
      containersOf(one).flatMap((container) => (container.env ?? []).map((variable) => variable.name)),
    );
    const inMaps = of(local, "ConfigMap").flatMap((one) => Object.keys(one.data ?? {}));
    const names = new Set([...inCompose, ...inPods, ...inMaps.filter((name) => /^[A-Z_]+$/.test(name))]);
    const unread = [...names].filter(
      (name) => !foreign.includes(name) && !new RegExp(`\\b${name}\\b`).test(sources),
    );
    expect(unread).toEqual([]);
    expect(names.size).toBeGreaterThan(6);
  });

  it("agree on ports: gateway and NATS listen where clients connect", () => {
    const gateway = of(base, "Deployment").find((one) => one.metadata.name === "gateway") as Manifest;
    const [container] = podOf(gateway).containers as [Container];
    const listen = container.env?.find((one) => one.name === "ANTIPHON_LISTEN")?.value ?? "";
    expect(container.ports).toEqual([{ name: "http", containerPort: Number(listen.split(":")[1]) }]);
    expect(compose.services["gateway"]?.environment?.["ANTIPHON_LISTEN"]).toBe(listen);
    expect(compose.services["gateway"]?.ports?.[0]).toMatch(/:3001$/);
    const nats = podOf(of(base, "StatefulSet")[0] as Manifest).containers[0];
    const ports = nats?.ports?.map((port) => port.containerPort) ?? [];
    expect(ports).toEqual([4222, 8222]);
    for (const port of ports) expect(read("deploy/nats/nats.conf")).toContain(`"0.0.0.0:${port}"`);
  });
});

describe("deploy/nats/nats.conf", () => {
  /** Starts a server with this auth.conf beside it. */
  async function serving(
    auth: (dir: string) => string,
    judge: (options: BusOptions, dir: string) => Promise<void>,
  ): Promise<void> {
    const dir = mkdtempSync(join(tmpdir(), "antiphon-deploy-"));
    const [port, monitorPort] = [await freePort(), await freePort()];
    const config = read("deploy/nats/nats.conf")
      .replace("0.0.0.0:4222", `127.0.0.1:${port}`)
      .replace("0.0.0.0:8222", `127.0.0.1:${monitorPort}`)
      .replace("store_dir: /data", `store_dir: ${JSON.stringify(join(dir, "data"))}`);
    writeFileSync(join(dir, "nats.conf"), config);
    writeFileSync(join(dir, "auth.conf"), auth(dir));
    const env = { ...process.env, ANTIPHON_NATS_TOKEN: "a-token", NATS_SERVER_NAME: "deploy-test" };
    const server = spawn(natsServerBinary(), ["--config", join(dir, "nats.conf")], { env, stdio: "ignore" });
    const ended = new Promise((resolve) => server.once("exit", resolve));
    const options = {
      servers: `nats://127.0.0.1:${port}`,
      monitorUrl: `http://127.0.0.1:${monitorPort}`,
      name: "deploy-test",
      log: createLogger("test", { level: "silent" }),
    };
    const health = (): Promise<number> =>
      fetch(`${options.monitorUrl}/healthz`).then(
        (answer) => answer.status,
        () => 0,
      );
    try {
      await expect.poll(health, { timeout: patient(10_000) }).toBe(200);
      await expect(connectBus(options)).rejects.toThrow(/./);
      await judge(options, dir);
    } finally {
      server.kill("SIGTERM");
      await ended;
      rmSync(dir, { recursive: true, force: true });
    }
  }

  it("starts a server that the runtime accepts as durable, and that demands the token", async () => {
    await serving(
      () => read("deploy/nats/token.conf"),
      async (options) => {
        const bus = await connectBus({ ...options, token: "a-token" });
        expect(bus.durability).toBe("confirmed");
        expect(bus.nc.info?.max_payload).toBe(8 * 1024 * 1024);
        await bus.close();
      },
    );
  });

  it("with the users of `antiphon nats bootstrap`, accepts each service by its seed, and no token", async () => {
    await serving(
      (dir) => {
        bootstrapUsers(join(dir, "nats-users"), 1);
        return readFileSync(join(dir, "nats-users/accounts.conf"), "utf8");
      },
      async (options, dir) => {
        await expect(connectBus({ ...options, token: "a-token" })).rejects.toThrow(/./);
        for (const role of ["director", ...ROLES]) {
          const seed = readFileSync(join(dir, "nats-users", `${role}.env`), "utf8");
          const bus = await connectBus({ ...options, user: readNatsUser(role, seed) });
          expect(bus.durability, role).toBe("confirmed");
          await provision(bus);
          await bus.close();
        }
        for (const file of readdirSync(join(dir, "nats-users")))
          expect(statSync(join(dir, "nats-users", file)).mode & 0o777, file).toBe(
            file === "accounts.conf" ? 0o644 : 0o600,
          );
      },
    );
  });
});
