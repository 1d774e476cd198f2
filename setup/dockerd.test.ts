import { describe, expect, it } from "vitest";

interface Workaround {
  name: string;
}
interface Dockerd {
  WORKAROUNDS: Workaround[];
  nextWorkaround: (log: string, tried: readonly Workaround[]) => Workaround | null;
}

const { WORKAROUNDS, nextWorkaround } = (await import(
  new URL("./dockerd.mjs", import.meta.url).href
)) as Dockerd;

const chatter =
  'time="2026-01-01T00:00:00Z" level=info msg="Default bridge (docker0), overlay2, iptables, cgroup"\n';
const nft =
  "failed to start daemon: Error initializing network controller: failed to create NAT chain DOCKER: iptables failed: iptables v1.8.9 (nf_tables): Could not fetch rule set generation id: Invalid argument\n";

describe("workarounds when dockerd does not start", () => {
  it.each([
    ["cgroup2", "failed to start daemon: Devices cgroup isn't mounted\n"],
    ["iptables-legacy", nft],
    [
      "no-bridge",
      'failed to start daemon: Error initializing network controller: Error creating default "bridge" network\n',
    ],
    ["vfs", 'level=error msg="failed to mount overlay: invalid argument" storage-driver=overlay2\n'],
  ])("%s, when the log says so", (name, line) => {
    expect(nextWorkaround(chatter + line, [])?.name).toBe(name);
  });

  it("goes on to the next one when the first did not help", () => {
    const legacy = WORKAROUNDS.filter((one) => one.name === "iptables-legacy");
    expect(nextWorkaround(nft, legacy)?.name).toBe("no-bridge");
  });

  it("gives up on an unknown failure, and ignores log lines that are no errors", () => {
    expect(nextWorkaround(chatter, [])).toBeNull();
    expect(nextWorkaround("failed to start daemon: pid file found\n", [])).toBeNull();
  });

  it("ends: each is tried once", () => {
    expect(nextWorkaround(nft, WORKAROUNDS)).toBeNull();
  });
});
