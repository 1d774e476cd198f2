/**
 * The commands for `msb`, and the check of the machine it made. Commands and answers are those of msb 0.6.
 *
 * A machine never gets a command unless its own record confirms that nothing goes in or out, and that it has no mount,
 * port or secret.
 */
import type { SandboxOrder } from "../../ports.ts";

/** Memory for the machine itself, beside the sandbox in it. */
const OVERHEAD_MIB = 128;
/** A machine without a running command ends after this time, so it ends when its runner is gone. */
const IDLE = "30s";
const MiB = 1024 * 1024;

export function createWords(name: string, order: SandboxOrder, maxDurationS: number): string[] {
  const labels = Object.entries(order.labels).filter(([, value]) => value !== "");
  return [
    ...["create", "--quiet", "--name", name, "--pull", "never", "--no-net"],
    ...["--cpus", String(Math.max(1, Math.ceil(order.limits.cpus)))],
    ...["--memory", `${Math.ceil(order.limits.memoryBytes / MiB) + OVERHEAD_MIB}M`],
    ...["--idle-timeout", IDLE, "--max-duration", `${maxDurationS}s`],
    ...labels.flatMap(([key, value]) => ["--label", `${key}=${value}`]),
    order.imageId,
  ];
}

/** Runs the launcher, and then the supervisor, on the child's own standard streams, without a terminal. */
export function execWords(name: string, program: string): string[] {
  return [
    "exec",
    "--stream",
    "--quiet",
    "--user",
    "root",
    "--workdir",
    "/",
    name,
    "--",
    "perl",
    "-e",
    program,
  ];
}

/** The compared parts of `msb inspect --format json`. */
interface Inspected {
  readonly config?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly mounts?: readonly unknown[];
    readonly network?: {
      readonly enabled?: boolean;
      readonly policy?: {
        readonly default_egress?: string;
        readonly default_ingress?: string;
        readonly rules?: unknown[];
      };
      readonly ports?: readonly unknown[];
      readonly secrets?: { readonly secrets?: readonly unknown[] };
    };
    readonly rlimits?: readonly unknown[];
  };
}

/** The differences in words; empty when the machine is as requested. A missing field is a difference. */
export function machineDifferences(record: unknown): string[] {
  const { config } = (record ?? {}) as Inspected;
  const { network, mounts } = config ?? {};
  const found: string[] = [];
  if (network?.enabled !== false) {
    for (const way of ["default_egress", "default_ingress"] as const) {
      const action = network?.policy?.[way];
      if (action !== "deny") found.push(`${way} is ${String(action)}, not deny`);
    }
    if (network?.policy?.rules?.length !== 0) found.push("the network has rules");
    if (network?.ports?.length !== 0) found.push("ports are published");
    if (network?.secrets?.secrets?.length !== 0) found.push("secrets are given");
  }
  if (mounts?.length !== 0) found.push("something is mounted");
  return found;
}

export function labelOf(record: unknown, name: string): string | null {
  return (record as Inspected | null)?.config?.labels?.[name] ?? null;
}
