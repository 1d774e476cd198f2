/**
 * A foreign machine that becomes a sandbox (supervisor/guest.ts): a container whose root may do what the root of a
 * virtual machine may, with a network and programs of its own. `launch` runs through `docker exec`.
 */
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { guestLine } from "../../services/sandbox-runner/src/conversation/guest-line.ts";
import { processLine } from "../../services/sandbox-runner/src/conversation/process-line.ts";
import { SupervisedSandbox } from "../../services/sandbox-runner/src/conversation/supervised-sandbox.ts";
import type { ContainerLimits, Enforced } from "../../services/sandbox-runner/src/ports.ts";
import { guestProgram } from "../../services/sandbox-runner/src/supervisor/guest.ts";

const execute = promisify(execFile);

export interface GuestMachine {
  /** Output of a program run by the machine's root. */
  exec(script: string): Promise<string>;
  /** Runs the launcher without input and returns its output. */
  say(limits: ContainerLimits, how?: Launch): Promise<{ said: string; token: string; code: number | null }>;
  /** Turns the machine into a sandbox. Rejects with the launcher's message about what is missing. */
  launch(limits: ContainerLimits, how?: Launch): Promise<{ sandbox: SupervisedSandbox; enforced: Enforced }>;
  end(): Promise<void>;
}

interface Launch {
  /** Shell code to run first. */
  readonly before?: string;
  readonly user?: string;
}

export async function startGuestMachine(
  image: string,
  { privileged = true, network = "bridge" } = {},
): Promise<GuestMachine> {
  const words = ["run", "-d", "--rm", "--init", "--network", network, "--workdir", "/"];
  if (privileged) words.push("--privileged");
  const { stdout } = await execute("docker", [...words, "--entrypoint", "/bin/sleep", image, "600"]);
  const id = stdout.trim();
  const started = (limits: ContainerLimits, { before = ":", user = "0:0" }: Launch) => {
    const token = randomBytes(12).toString("hex");
    const script = `${before}; exec perl -e "$1"`;
    const exec = ["exec", "-i", "-u", user, id, "sh", "-c", script, "sh", guestProgram(limits, token)];
    return { token, child: spawn("docker", exec, { stdio: ["pipe", "pipe", "pipe"] }) };
  };
  return {
    exec: async (script) => (await execute("docker", ["exec", "-u", "0:0", id, "sh", "-c", script])).stdout,
    say: async (limits, how = {}) => {
      const { token, child } = started(limits, how);
      let said = "";
      child.stdout.on("data", (bytes: Buffer) => (said += bytes.toString("latin1")));
      child.stderr.resume();
      child.stdin.on("error", () => undefined);
      child.stdin.end();
      const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
      return { said, token, code };
    },
    launch: async (limits, how = {}) => {
      const { token, child } = started(limits, how);
      const none = { id, remove: () => undefined, cleanUp: () => Promise.resolve() };
      const { line, enforced } = guestLine(processLine(child, none), token);
      const sandbox = new SupervisedSandbox(line, image, performance.now());
      const greeted = sandbox.greet();
      greeted.catch(() => undefined);
      try {
        const holds = await enforced;
        await greeted;
        return { sandbox, enforced: holds };
      } catch (error) {
        await sandbox.destroy({ kind: "gone", message: "it did not start" });
        throw error;
      }
    },
    end: async () => {
      await execute("docker", ["rm", "--force", id]);
    },
  };
}
