/**
 * A sandbox's connection to its listener at the egress gateway: requested, dialled, and closed with a report.
 *
 * Lifecycle: asked -> linked (control connection up, sandbox listening, certificate in place) -> closed | lost.
 * The listener lives as long as the control connection, so neither side can outlive the other. It always ends with the job.
 *
 * A job that asks for a network gets it or fails with a named code; it never runs without one in silence. The listener's
 * token stays on this side: the sandbox gets a loopback port, a certificate and no secret.
 *
 * When the gateway is gone, the job ends with ANT_EGRESS_LOST: the programs in the sandbox see their connections close
 * and have LOST_GRACE_MS to end by themselves, but the job can no longer succeed.
 */
import { connect, type Socket } from "node:net";
import {
  AntiphonError,
  limits,
  subjects,
  type EgressCloseRequest,
  type EgressGrant,
  type EgressOpened,
  type EgressOpenRequest,
  type EgressReport,
  type SandboxRequest,
} from "@antiphon/contracts";
import { callRpc, type Bus } from "@antiphon/runtime";
import { EGRESS_PORT, egressEnvironment, writeCertificates } from "./egress-environment.ts";
import { javaTrustStore } from "./java-trust-store.ts";
import type { Sandbox } from "../ports.ts";

const OPEN_MS = 5_000;
const CLOSE_MS = 15_000;
/** Long enough for a program to print what it saw. Its work cannot be completed any more. */
const LOST_GRACE_MS = 2_000;

export interface EgressLink {
  /** Variables that are added to the environment of every step. */
  readonly env: Readonly<Record<string, string>>;
  /** Ends the link; idempotent. Rejects with ANT_EGRESS_LOST when the gateway went away before. */
  close(): Promise<EgressReport>;
}

export async function linkEgress(
  bus: Bus,
  { run, task, epoch, jobId }: SandboxRequest,
  grant: EgressGrant,
  sandbox: Sandbox,
): Promise<EgressLink> {
  const ask: EgressOpenRequest = { run, task, epoch, jobId, grant };
  const opened = await callRpc<EgressOpened>(bus, subjects.egressOpen, ask, { timeoutMs: OPEN_MS }).catch(
    (error: unknown) => {
      const known = AntiphonError.from(error);
      if (known.code !== "ANT_RPC_TIMEOUT" && known.code !== "ANT_RPC_NEWER") throw known;
      throw new AntiphonError("ANT_EGRESS_UNAVAILABLE", known.detail, { cause: error });
    },
  );
  const control = await controlled(opened);
  let lost = false;
  let grace: NodeJS.Timeout | undefined;
  let closing: Promise<EgressReport> | null = null;
  control.once("close", () => {
    lost = true;
    if (closing !== null) return;
    const end = (): void =>
      void sandbox.destroy({ kind: "gone", message: "its network is gone" }).catch(() => undefined);
    grace = setTimeout(end, LOST_GRACE_MS);
  });
  const close = (): Promise<EgressReport> => {
    clearTimeout(grace);
    return (closing ??= closed(bus, opened, control, lost));
  };
  try {
    const dial = (): Socket => {
      const socket = connect(opened.port, opened.host);
      socket.write(`${opened.token} data\n`);
      return socket;
    };
    const fault =
      sandbox.network === undefined
        ? "its provider carries no connections"
        : await sandbox.network(EGRESS_PORT, dial);
    if (fault !== null)
      throw new AntiphonError("ANT_EGRESS_UNSUPPORTED", `the sandbox cannot have a network: ${fault}`);
    await write(sandbox, writeCertificates(javaTrustStore(opened.ca)), Buffer.from(opened.ca, "utf8"));
  } catch (error) {
    await close().catch(() => undefined); // the first error is the one to report
    throw error;
  }
  return { env: egressEnvironment(grant), close };
}

/** Connects and greets. From then on the listener lives as long as this connection. */
function controlled({ host, port, token }: EgressOpened): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host).setKeepAlive(true, 5_000); // a host that fell silent counts as gone, too
    const fail = (why: string): void => {
      socket.destroy();
      reject(new AntiphonError("ANT_EGRESS_UNAVAILABLE", `the listener at ${host}:${port} ${why}`));
    };
    const timer = setTimeout(fail, OPEN_MS, "does not answer");
    socket.on("error", (error) => {
      clearTimeout(timer);
      fail(`is unreachable: ${error.message}`);
    });
    socket.once("end", () => socket.destroy());
    socket.write(`${token} control\n`);
    socket.once("data", () => {
      clearTimeout(timer);
      resolve(socket.resume());
    });
  });
}

async function closed(
  bus: Bus,
  { lease, node }: EgressOpened,
  control: Socket,
  lost: boolean,
): Promise<EgressReport> {
  try {
    if (lost) throw new AntiphonError("ANT_EGRESS_LOST", `the gateway ${node} went away`);
    const ask: EgressCloseRequest = { lease };
    const { ok: _, ...report } = await callRpc<EgressReport>(bus, subjects.egressClose(node), ask, {
      timeoutMs: CLOSE_MS,
    });
    return report;
  } catch (error) {
    const known = AntiphonError.from(error);
    if (known.code !== "ANT_RPC_TIMEOUT") throw known;
    throw new AntiphonError("ANT_EGRESS_LOST", `no report from the gateway ${node}`, { cause: error });
  } finally {
    control.destroy(); // ends the listener, too
  }
}

async function write(sandbox: Sandbox, argv: readonly string[], certificates: Buffer): Promise<void> {
  const { exitCode, stderr } = await sandbox.run({
    argv,
    cwd: "/tmp",
    env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" },
    stdin: certificates,
    timeoutMs: OPEN_MS,
    keepBytes: 4096,
    maxOutputBytes: limits.documentBytes,
  });
  if (exitCode !== 0)
    throw new AntiphonError(
      "ANT_EGRESS_UNSUPPORTED",
      `the certificate could not be written: ${stderr.tail.trim()}`,
    );
}
