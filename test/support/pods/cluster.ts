/** All pods of rendered manifests, one replica each, on a network whose names are those of the Services. */
import type { Manifest } from "../manifests.ts";
import { docker } from "./docker.ts";
import { Pod, type PodPlace } from "./pod.ts";

export class Cluster {
  readonly pods: readonly Pod[];
  readonly #place: PodPlace;

  /** `publish`: ports of a workload that this machine reaches, as `kubectl port-forward` would make it. */
  constructor(place: PodPlace, publish: Readonly<Record<string, readonly string[]>>) {
    this.#place = place;
    docker(["network", "create", "--label", `pods=${place.id}`, place.network]);
    const workloads = place.manifests.filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet");
    this.pods = workloads.map(
      (one) => new Pod(place, one, namesOf(place.manifests, one), publish[one.metadata.name] ?? []),
    );
  }

  pod(name: string): Pod {
    const found = this.pods.find((one) => one.name === name);
    if (found === undefined) throw new Error(`no pod ${name}`);
    return found;
  }

  /** Resolves when every pod is ready; throws with the last words of those that are not. */
  async run(): Promise<void> {
    const ends = await Promise.allSettled(this.pods.map((pod) => pod.run()));
    const failed = ends.flatMap((end, at) =>
      end.status === "fulfilled" ? [] : [`${String(end.reason)}\n${this.pods[at]?.report()}`],
    );
    if (failed.length > 0) throw new Error(failed.join("\n\n"));
  }

  /** Stops the runner first, so that it removes its sandboxes, and removes everything that was made. */
  stop(): void {
    const { id, network } = this.#place;
    const all = linesOf(docker(["ps", "--all", "--quiet", "--filter", `name=^/${id}-`]));
    const services = linesOf(docker(["ps", "--quiet", "--filter", `name=^/${id}-.*-service$`]));
    if (services.length > 0) docker(["stop", "--time", "20", ...services]);
    if (all.length > 0) docker(["rm", "--force", "--volumes", ...all]);
    const volumes = linesOf(docker(["volume", "ls", "--quiet", "--filter", `name=^${id}-`]));
    if (volumes.length > 0) docker(["volume", "rm", ...volumes]);
    docker(["network", "rm", network]);
  }
}

/** The names under which a cluster's DNS knows the Services that select a workload's pods. */
function namesOf(manifests: readonly Manifest[], workload: Manifest): string[] {
  const { template } = workload.spec as { template: { metadata: { labels: Record<string, string> } } };
  return manifests
    .filter(({ kind, metadata }) => kind === "Service" && metadata.namespace === workload.metadata.namespace)
    .filter(({ spec }) =>
      Object.entries((spec as { selector: Record<string, string> }).selector).every(
        ([label, value]) => template.metadata.labels[label] === value,
      ),
    )
    .flatMap(({ metadata: { name, namespace } }) => [name, `${name}.${namespace}.svc.cluster.local`]);
}

const linesOf = (text: string): string[] => text.split("\n").filter((line) => line !== "");
