import { lookup } from "node:dns/promises";
import { hostname, networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { EgressRefusal } from "../policy/refusal.ts";
import { isNetworkAddress, isPublicAddress } from "./ip-address.ts";
import { resolverOf } from "./resolver.ts";

const settings = { overrides: new Map(), proxy: null, privateHosts: [] };

test("egress-gateway/E3: a name whose address is not public is refused, and the reason says how a mirror is named", async () => {
  expect(isPublicAddress("127.0.0.1")).toBe(false);
  await expect(resolverOf(settings)("localhost", 443)).rejects.toMatchObject({
    code: "ANT_EGRESS_ADDRESS",
    message: expect.stringContaining("`private_hosts`") as string,
  });
});

test("egress-gateway/E3: a host whose address may be private does not lead to the machine itself", async () => {
  const named = resolverOf({ ...settings, privateHosts: [{ host: "localhost", ports: [443] }] });
  await expect(named("localhost", 443)).rejects.toMatchObject({ code: "ANT_EGRESS_ADDRESS" });
});

test("egress-gateway/E3: nor does one whose name leads to an interface of the machine", async () => {
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const host = hostname();
  const answers = await lookup(host, { all: true }).catch(() => []);
  expect(answers.every(({ address }) => own.some((one) => one.address === address))).toBe(true);
  const named = resolverOf({ ...settings, privateHosts: [{ host, ports: [443] }] });
  await expect(named(host, 443)).rejects.toBeInstanceOf(EgressRefusal);
});

test("a mirror is reached at the ports that the deployment names", async () => {
  const named = resolverOf({ ...settings, privateHosts: [{ host: "localhost", ports: [8443] }] });
  await expect(named("localhost", 443)).rejects.toThrow(/not public/);
  await expect(named("localhost", 8443)).rejects.toThrow(/this machine/);
});

test.each([
  ["10.1.2.3", true],
  ["172.20.0.1", true],
  ["192.168.7.7", true],
  ["203.0.113.5", true],
  ["93.184.216.34", true],
  ["fd12::1", true],
  ["127.0.0.1", false],
  ["169.254.169.254", false],
  ["168.63.129.16", false],
  ["100.100.100.200", false],
  ["0.0.0.0", false],
  ["255.255.255.255", false],
  ["::1", false],
  ["::ffff:10.0.0.1", false],
  ["fe80::1", false],
  ["fd00:ec2::254", false],
  ["fd20:ce::254", false],
  ["fd00:c1::a9fe:a9fe", false],
  ["fd12::1%eth0", false],
])("%s may be the address of a mirror: %s", (address, may) => {
  expect(isNetworkAddress(address)).toBe(may);
});
