import { expect, test } from "vitest";
import { EgressRefusal } from "../policy/refusal.ts";
import { nameLookups } from "./name-lookups.ts";

test("hundreds of requests for a host are one question to the name server", async () => {
  const asked: string[] = [];
  const resolved = nameLookups((host) => {
    asked.push(host);
    return Promise.resolve([`${host}'s`]);
  });
  const hosts = Array.from({ length: 400 }, (_, at) => (at % 2 === 0 ? "a.test" : "b.test"));
  const answers = await Promise.all(hosts.map(resolved));
  expect(answers).toEqual(hosts.map((host) => [`${host}'s`]));
  expect(await resolved("a.test")).toEqual(["a.test's"]);
  expect(asked).toEqual(["a.test", "b.test"]);
});

test("a failure is told to all who wait, and the next request asks again", async () => {
  let asked = 0;
  const resolved = nameLookups(() => {
    asked += 1;
    if (asked > 1) return Promise.resolve(["192.0.2.1"]);
    return Promise.reject(new EgressRefusal("ANT_EGRESS_UPSTREAM", "host:resolve", "no answer in time"));
  });
  const waiting = await Promise.allSettled([resolved("a.test"), resolved("a.test")]);
  expect(waiting.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await resolved("a.test")).toEqual(["192.0.2.1"]);
});

test("more hosts at once than are kept are all answered", async () => {
  const resolved = nameLookups((host) => Promise.resolve([host]));
  const hosts = Array.from({ length: 600 }, (_, at) => `h${at}.test`);
  expect(await Promise.all(hosts.map(resolved))).toEqual(hosts.map((host) => [host]));
});

test("a name that does not exist is an error with its reason", async () => {
  await expect(nameLookups()("antiphon.invalid")).rejects.toMatchObject({
    code: "ANT_EGRESS_UPSTREAM",
    message: expect.stringMatching(/^antiphon\.invalid cannot be resolved: E/) as string,
  });
});
