/**
 * One pod, run by hand: its containers share a network namespace and volumes, its init containers come first, and it is
 * ready when its probes say so. Everything is done as the manifest says, with a Docker engine in the kubelet's place.
 *
 * Not as in a cluster: network policies and sizes of volumes are not enforced, and a container that fails its liveness probe
 * is not restarted.
 */
import { spawnSync } from "node:child_process";
import { eventually, run } from "../../e2e/support/program.ts";
import type { Manifest } from "../manifests.ts";
import { docker, privileged, succeeds } from "./docker.ts";
import type { Container, EnvVariable, KeyRef, PodSpec, Probe, Volume } from "./pod-spec.ts";

export interface PodPlace {
  /** Of the cluster; the names of everything on the engine begin with it. */
  readonly id: string;
  readonly network: string;
  /** All objects that were applied. */
  readonly manifests: readonly Manifest[];
  /** The image that runs for the one that a manifest names. */
  readonly imageFor: (image: string) => string;
  /** An image with node, to prepare volumes. */
  readonly helper: string;
}

const PREPARE = `
const fs = require("node:fs");
const { files, mode, directoryMode, gid } = JSON.parse(fs.readFileSync(0, "utf8"));
for (const [name, content] of Object.entries(files)) {
  fs.writeFileSync("/v/" + name, Buffer.from(content, "base64"));
  fs.chownSync("/v/" + name, 0, gid);
  fs.chmodSync("/v/" + name, mode);
}
fs.chownSync("/v", 0, gid);
fs.chmodSync("/v", directoryMode);
`;

/** Longer than anything takes on a busy machine with small volumes; the manifests also think of large ones. */
const PATIENCE_MS = 180_000;

export class Pod {
  readonly name: string;
  readonly #place: PodPlace;
  readonly #namespace: string;
  readonly #spec: PodSpec;
  readonly #sandbox: string;

  constructor(place: PodPlace, workload: Manifest, aliases: readonly string[], publish: readonly string[]) {
    this.#place = place;
    this.name = workload.metadata.name;
    this.#namespace = workload.metadata.namespace ?? "";
    const { template, volumeClaimTemplates = [] } = workload.spec as {
      template: { spec: PodSpec };
      volumeClaimTemplates?: { metadata: { name: string } }[];
    };
    const claims = volumeClaimTemplates.map(({ metadata: { name } }) => ({
      ...{ name, persistentVolumeClaim: { claimName: `${name}-${this.name}` } },
    }));
    this.#spec = { ...template.spec, volumes: [...(template.spec.volumes ?? []), ...claims] };
    this.#sandbox = `${place.id}-${this.name}`;
    const names = aliases.flatMap((alias) => ["--network-alias", alias]);
    const ports = publish.flatMap((port) => ["-p", port]);
    const pause = ["--entrypoint", "sleep", place.helper, "infinity"];
    docker(["run", "-d", "--name", this.#sandbox, "--network", place.network, ...names, ...ports, ...pause]);
  }

  /** The engine's name of one of its containers. */
  container(name = "service"): string {
    return `${this.#sandbox}-${name}`;
  }

  /** Starts its containers in their order, and resolves when it is ready. */
  async run(): Promise<void> {
    for (const volume of this.#spec.volumes ?? []) this.#prepare(volume);
    for (const container of this.#spec.initContainers ?? []) {
      this.#start(container);
      if (container.restartPolicy === "Always") await this.#passes(container, container.startupProbe);
      else await this.#ended(container);
    }
    for (const container of this.#spec.containers) this.#start(container);
    for (const container of this.#spec.containers) {
      await this.#passes(container, container.startupProbe);
      await this.#passes(container, container.readinessProbe);
      await this.#passes(container, container.livenessProbe);
    }
  }

  /** What a container has printed last, and whether it runs. */
  report(): string {
    const { initContainers = [], containers } = this.#spec;
    const lines = [...initContainers, ...containers].map(({ name }) => {
      const { stdout, state } = this.#told(name);
      return `${this.name}/${name}: ${state}\n${stdout.split("\n").slice(-8).join("\n")}`;
    });
    return lines.join("\n");
  }

  #told(name: string): { stdout: string; state: string } {
    if (!succeeds(["inspect", this.container(name)])) return { stdout: "", state: "not started" };
    const state = docker([
      "inspect",
      "--format",
      "{{.State.Status}} {{.State.ExitCode}}",
      this.container(name),
    ]);
    const { stdout, stderr } = spawnSync("docker", ["logs", "--tail", "8", this.container(name)], {
      encoding: "utf8",
    });
    return { stdout: `${stdout}${stderr}`, state };
  }

  #prepare(volume: Volume): void {
    const gid = this.#spec.securityContext?.fsGroup ?? 0;
    const { configMap, secret } = volume;
    const mode = configMap?.defaultMode ?? secret?.defaultMode ?? 0o644;
    const files =
      configMap !== undefined
        ? base64Of(this.#object("ConfigMap", configMap.name)?.data ?? missing(configMap.name))
        : secret !== undefined
          ? (this.#object("Secret", secret.secretName)?.data ?? optional(secret))
          : {};
    // As the kubelet does: the pod's group owns a volume and everything made in it.
    const directoryMode = volume.emptyDir === undefined ? 0o2775 : 0o2777;
    const input = JSON.stringify({ files, mode, directoryMode, gid });
    const helper = ["-u", "0:0", "--entrypoint", "node", this.#place.helper, "-e", PREPARE];
    docker(["run", "--rm", "-i", "-v", `${this.#volume(volume.name)}:/v`, ...helper], input);
  }

  #start(container: Container): void {
    const { image, command, args = [], volumeMounts = [], resources } = container;
    const mounts = volumeMounts.map(
      ({ name, mountPath, readOnly = false }) =>
        `${this.#volume(name)}:${mountPath}:nocopy${readOnly ? ",ro" : ""}`,
    );
    const env = Object.entries(this.#environment(container)).map(([name, value]) => `${name}=${value}`);
    const memory = resources?.limits?.memory?.replace(/i$/, "").toLowerCase();
    const [program, ...rest] = command ?? [];
    docker([
      ...["run", "-d", "--name", this.container(container.name), "--network", `container:${this.#sandbox}`],
      ...(container.restartPolicy === "Always" || this.#spec.containers.includes(container)
        ? ["--restart", "always"]
        : []),
      ...this.#rights(container),
      ...mounts.flatMap((mount) => ["-v", mount]),
      ...env.flatMap((variable) => ["-e", variable]),
      ...(memory === undefined ? [] : ["--memory", memory]),
      ...(program === undefined ? [] : ["--entrypoint", program]),
      ...[this.#place.imageFor(image), ...rest, ...args],
    ]);
  }

  #rights({ image, securityContext = {} }: Container): string[] {
    const { fsGroup } = this.#spec.securityContext ?? {};
    const { runAsUser, runAsGroup } = { ...this.#spec.securityContext, ...securityContext };
    return [
      ...(securityContext.privileged === true ? privileged(this.#place.imageFor(image)) : []),
      ...(runAsUser === undefined ? [] : ["-u", `${runAsUser}:${runAsGroup ?? 0}`]),
      ...(fsGroup === undefined ? [] : ["--group-add", String(fsGroup)]),
      ...(securityContext.readOnlyRootFilesystem === true ? ["--read-only"] : []),
      ...(securityContext.allowPrivilegeEscalation === false ? ["--security-opt", "no-new-privileges"] : []),
      ...(securityContext.capabilities?.drop ?? []).flatMap((name) => ["--cap-drop", name]),
    ];
  }

  #environment({ env = [], envFrom = [] }: Container): Record<string, string> {
    const maps = envFrom.map(
      ({ configMapRef: { name } }) => this.#object("ConfigMap", name)?.data ?? missing(name),
    );
    const own = env.map((variable) => [variable.name, this.#value(variable)] as const);
    const given = own.filter((pair): pair is readonly [string, string] => pair[1] !== null);
    return Object.assign({}, ...maps, Object.fromEntries(given)) as Record<string, string>;
  }

  /** Null if it stays unset. */
  #value({ value, valueFrom }: EnvVariable): string | null {
    const { configMapKeyRef, secretKeyRef, fieldRef } = valueFrom ?? {};
    if (configMapKeyRef !== undefined) return this.#key("ConfigMap", configMapKeyRef);
    if (secretKeyRef !== undefined) {
      const coded = this.#key("Secret", secretKeyRef);
      return coded === null ? null : Buffer.from(coded, "base64").toString("utf8");
    }
    if (fieldRef?.fieldPath === "metadata.name") return `${this.name}-0`;
    if (fieldRef?.fieldPath === "status.podIP") return this.address;
    return value ?? missing(JSON.stringify(fieldRef));
  }

  get address(): string {
    return docker([
      ...["inspect", "--format", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", this.#sandbox],
    ]);
  }

  #key(kind: "ConfigMap" | "Secret", { name, key, optional: may }: KeyRef): string | null {
    return this.#object(kind, name)?.data?.[key] ?? (may === true ? null : missing(`${name}/${key}`));
  }

  #object(kind: string, name: string): Manifest | undefined {
    return this.#place.manifests.find(
      (one) => one.kind === kind && one.metadata.name === name && one.metadata.namespace === this.#namespace,
    );
  }

  /** A claim is one volume, whichever pod mounts it. */
  #volume(name: string): string {
    const claim = this.#spec.volumes?.find((one) => one.name === name)?.persistentVolumeClaim;
    return claim === undefined ? `${this.#sandbox}-v-${name}` : `${this.#place.id}-claim-${claim.claimName}`;
  }

  async #passes({ name, ports = [] }: Container, probe: Probe | undefined): Promise<void> {
    if (probe === undefined) return;
    const patienceMs = Math.min(
      PATIENCE_MS,
      1000 * (probe.periodSeconds ?? 10) * (probe.failureThreshold ?? 3),
    );
    const { exec, httpGet } = probe;
    const ask = async (): Promise<true | null> => {
      if (exec !== undefined) return (await isDone(["exec", this.container(name), ...exec.command])) || null;
      const port = ports.find((one) => one.name === httpGet?.port)?.containerPort;
      const url = `http://${this.address}:${port}${httpGet?.path ?? ""}`;
      const ok = await fetch(url).then(isOk, () => false);
      return ok || null;
    };
    await eventually(`${this.name}/${name} passes ${JSON.stringify(probe)}`, ask, patienceMs);
  }

  async #ended({ name }: Container): Promise<void> {
    const { stdout } = await run("docker", ["wait", this.container(name)]);
    if (stdout.trim() !== "0") throw new Error(`${this.name}/${name} ended with ${stdout}: ${this.report()}`);
  }
}

/** Whether a command in a container ends well. It may take long, and the other pods go on meanwhile. */
const isDone = async (args: readonly string[]): Promise<boolean> =>
  (await run("docker", args, { timeoutMs: PATIENCE_MS })).code === 0;

/** Reads the body too, since a connection with an unread one is held. */
const isOk = async (answer: Response): Promise<boolean> => {
  await answer.text();
  return answer.ok;
};

const base64Of = (data: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString("base64")]),
  );

function missing(what: string): never {
  throw new Error(`${what} does not exist`);
}

const optional = ({ optional: may, secretName }: { optional?: boolean; secretName: string }) =>
  may === true ? {} : missing(secretName);
