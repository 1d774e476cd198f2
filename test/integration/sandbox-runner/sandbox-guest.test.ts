/** Tests the launcher of supervisor/guest.ts, in machines that have what it needs and in machines that do not. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Sandbox } from "../../../services/sandbox-runner/src/ports.ts";
import { sandboxImage, shell, SMALL } from "../../support/docker.ts";
import { startGuestMachine, type GuestMachine } from "../../support/guest-machine.ts";

const OVER = { kind: "canceled", reason: "test over" } as const;
/** Hides the cgroups from the launcher, as on a kernel without them. */
const NO_CGROUPS = libc('mount(b"none", b"/sys/fs/cgroup", b"tmpfs", 0, None)');
const NO_PROC = libc('umount2(b"/proc", 2)');

function libc(call: string): string {
  return `python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).${call})'`;
}

let machine: GuestMachine;

beforeAll(async () => {
  machine = await startGuestMachine(sandboxImage());
});
afterAll(() => machine.end());

async function inGuest<T>(use: (sandbox: Sandbox) => Promise<T>): Promise<T> {
  const { sandbox } = await machine.launch(SMALL);
  try {
    return await use(sandbox);
  } finally {
    await sandbox.destroy(OVER);
  }
}

/**
 * An agent like those of real machines: it listens on every address, on an abstract name, and at sockets that all may
 * write to.
 */
const AGENT = `
import os, socket, threading
os.umask(0)
def serve(family, address):
    s = socket.socket(family); s.bind(address); s.listen(8)
    def take():
        while True: s.accept()[0].sendall(b"agent\\n")
    threading.Thread(target=take).start()
os.makedirs("/srv/agent", exist_ok=True)
serve(socket.AF_INET, ("0.0.0.0", 4321)); serve(socket.AF_UNIX, "\\0agent")
serve(socket.AF_UNIX, "/run/agent.sock"); serve(socket.AF_UNIX, "/srv/agent/sock")
print("serving", flush=True)`;

/** Prints which of all the ways to the machine are answered. */
const CALL = `
import socket, sys
for family, address in [(socket.AF_INET, ("127.0.0.1", 4321)), (socket.AF_INET, (sys.argv[1], 4321)),
                        (socket.AF_UNIX, "\\0agent"), (socket.AF_UNIX, "/run/agent.sock"), (socket.AF_UNIX, "/srv/agent/sock")]:
    s = socket.socket(family); s.settimeout(5)
    try: s.connect(address); print(s.recv(16).decode().strip())
    except OSError as error: print("nobody")`;

describe("a machine made a sandbox", () => {
  it("reports first that every protection holds, then starts the supervisor", async () => {
    const { said, token, code } = await machine.say(SMALL);
    expect(said).toMatch(
      new RegExp(`^${token} memory=1 processes=1\nh \\d{9}\nperl sealed=1 landlock=\\d+$`),
    );
    expect(code).toBe(0); // because its input ended
  });

  it.each([
    ["is not its root", true, { user: "65532:65532" }, "not root in the machine"],
    ["may make no namespaces", false, {}, "new namespaces: Operation not permitted"],
    ["has no /proc", true, { before: NO_PROC }, "no /proc"],
  ])("names the missing protection, and runs nothing, where it %s", async (_what, privileged, how, why) => {
    const other = await startGuestMachine(sandboxImage(), { privileged, network: "none" });
    try {
      const { said, token, code } = await other.say(SMALL, how);
      expect(said).toBe(`${token} failed: ${why}\n`);
      expect(code).toBe(111);
    } finally {
      await other.end();
    }
  });

  it("makes the provider fail with the missing protection", async () => {
    const asNobody = machine.launch(SMALL, { user: "65532:65532" });
    await expect(asNobody).rejects.toThrow(/^not root in the machine$/);
  });

  it("cannot reach the machine's network or its agent", async () => {
    await machine.exec(
      `cat > /agent.py <<'END'\n${AGENT}\nEND\nsetsid python3 /agent.py > /agent.log 2>&1 < /dev/null &\n` +
        "until grep -q serving /agent.log; do :; done",
    );
    const address = (await machine.exec("hostname -I")).trim().split(" ")[0] ?? "";
    expect(address).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
    const asked = await machine.exec(`python3 - ${address} <<'END'\n${CALL}\nEND`);
    expect(asked).toBe("agent\n".repeat(5));
    await inGuest(async (sandbox) => {
      const { stdout } = await sandbox.run(
        shell("", { argv: ["python3", "-", address], stdin: Buffer.from(CALL) }),
      );
      expect(stdout.bytes.toString()).toBe("nobody\n".repeat(5));
      const devices = await sandbox.run(shell("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '"));
      expect(devices.stdout.bytes.toString()).toBe("lo\n");
    });
  });

  it("reports a limit as not enforced where the kernel does not enforce it", async () => {
    const other = await startGuestMachine(sandboxImage(), { network: "none" });
    try {
      const { sandbox, enforced } = await other.launch(SMALL, { before: NO_CGROUPS });
      expect(enforced).toEqual({ memory: false, processes: false });
      const many = "i=0; while [ $i -lt 100 ]; do sleep 5 & i=$((i+1)); done; echo $i";
      const { stdout, pidsRefused } = await sandbox.run(shell(many));
      expect([stdout.bytes.toString(), pidsRefused]).toEqual(["100\n", 0]);
      await sandbox.destroy(OVER);
    } finally {
      await other.end();
    }
  });

  it("enforces the limits that it reports as enforced", () =>
    inGuest(async (sandbox) => {
      const many = "i=0; while [ $i -lt 100 ]; do sleep 5 & i=$((i+1)); done 2>/dev/null; exit 1";
      expect((await sandbox.run(shell(many))).pidsRefused).toBeGreaterThan(0);
    }));
});
