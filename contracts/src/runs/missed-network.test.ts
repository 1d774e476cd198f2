import { expect, test } from "vitest";
import { missedNetwork } from "./missed-network.ts";

test.each([
  "Error: getaddrinfo EAI_AGAIN registry.example.com",
  "connect ENETUNREACH 192.0.2.1:443",
  "socket.gaierror: [Errno -3] Temporary failure in name resolution",
  "curl: (6) Could not resolve host: example.com",
  "dial tcp: lookup example.com on 192.0.2.1:53: server misbehaving",
  "java.net.UnknownHostException: example.com",
])("%s tells of a network that was not reached", (said) => {
  expect(missedNetwork(`1 passed\n${said}\n`)).toMatch(/setup fetch/);
});

test.each(["", "AssertionError: 1 != 2", "connect ECONNREFUSED 127.0.0.1:3000"])(
  "%j tells nothing of a network",
  (said) => {
    expect(missedNetwork(said)).toBeNull();
  },
);
