import { expect, test } from "vitest";
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
  const named = resolverOf({ ...settings, privateHosts: ["localhost"] });
  await expect(named("localhost", 443)).rejects.toMatchObject({ code: "ANT_EGRESS_ADDRESS" });
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
  ["fd12::1%eth0", false],
])("%s may be the address of a mirror: %s", (address, may) => {
  expect(isNetworkAddress(address)).toBe(may);
});
