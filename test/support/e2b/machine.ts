/**
 * A machine of the stand-in: a privileged container, whose root may do what the root of a virtual machine may. The
 * engine really runs and ends its processes, terminals and files.
 */
import { once } from "node:events";
import type { Duplex } from "node:stream";
import Docker from "dockerode";
import { canonicalTar } from "../../../services/sandbox-runner/src/workspace/tar-writer.ts";

const docker = new Docker();
/** The engine watches a terminal's input for a key sequence; this one does not occur. */
const NEVER = Array.from({ length: 16 }, (_, i) => `ctrl-${"acegikmo"[i % 8] ?? ""}`).join(",");
export const MACHINE_LABEL = "antiphon.test.machine";

export interface ProcessOrder {
  readonly cmd: string;
  readonly args: readonly string[];
  readonly envs: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly user: string;
}

export interface Terminal {
  readonly pid: number;
  readonly stream: Duplex;
  exitCode(): Promise<number>;
}

export interface Machine {
  readonly container: string;
  terminal(order: ProcessOrder): Promise<Terminal>;
  write(path: string, content: Buffer): Promise<void>;
  /** Ends it with all its processes; a machine that is gone already is no error. */
  end(): Promise<void>;
}

export async function startMachine(image: string, hasInternet: boolean, owner: string): Promise<Machine> {
  const container = await docker.createContainer({
    Image: image,
    Entrypoint: ["/bin/sleep", "600"],
    Labels: { [MACHINE_LABEL]: owner },
    HostConfig: {
      Privileged: true,
      AutoRemove: true,
      NetworkMode: hasInternet ? "bridge" : "none",
      Init: true,
    },
  });
  await container.start();
  return {
    container: container.id,
    terminal: (order) => openTerminal(container, order),
    write: async (path, content) => {
      const archive = canonicalTar([{ path: path.replace(/^\//, ""), mode: "100644", content }]);
      await container.putArchive(archive, { path: "/" });
    },
    end: async () => {
      try {
        await container.remove({ force: true });
      } catch (error) {
        const { statusCode } = error as { statusCode?: number };
        if (statusCode !== 404 && statusCode !== 409) throw error; // it is gone or being removed
      }
    },
  };
}

async function openTerminal(container: Docker.Container, order: ProcessOrder): Promise<Terminal> {
  const exec = await container.exec({
    Cmd: [order.cmd, ...order.args],
    Env: Object.entries(order.envs).map(([name, value]) => `${name}=${value}`),
    WorkingDir: order.cwd,
    User: order.user,
    Tty: true,
    DetachKeys: NEVER,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
  });
  const stream = await exec.start({ hijack: true, stdin: true, Tty: true });
  const { Pid: pid } = await exec.inspect();
  return { pid, stream, exitCode: async () => (await exec.inspect()).ExitCode ?? -1 };
}

/** Resolves when everything was taken. */
export async function writeAll(stream: Duplex, bytes: Buffer): Promise<void> {
  if (!stream.write(bytes)) await once(stream, "drain");
}

/** Existing containers of this owner's machines; an old engine keeps listing removed ones, without names. */
export async function machinesOf(owner: string): Promise<string[]> {
  const filters = JSON.stringify({ label: [`${MACHINE_LABEL}=${owner}`] });
  return (await docker.listContainers({ all: true, filters }))
    .filter(({ Names }) => Names.length > 0)
    .map(({ Id }) => Id);
}
