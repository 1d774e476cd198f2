/** Services with NATS users find a server that only the Director provisions. */
import { afterEach, expect, it } from "vitest";
import { SERVICES } from "../../../contracts/src/principals/principals.ts";
import { provision } from "../../../runtime/src/index.ts";
import { startNatsWithUsers, startProvisioned, type UsersServer } from "../../support/nats-users.ts";

let server: UsersServer | null = null;

afterEach(async () => {
  await server?.close();
  server = null;
});

it("every service finds the streams of a journal with four partitions, and changes none", async () => {
  server = await startProvisioned({ partitions: 4 });
  for (const role of SERVICES) {
    const bus = await server.bus(role);
    expect(bus.durability, role).toBe("confirmed");
    expect(await provision(bus), role).toMatchObject({ created: [], updated: [] });
    expect(bus.partitions, role).toBe(4);
  }
});

it("a service that is there before the Director waits for it", async () => {
  server = await startNatsWithUsers();
  const early = await Promise.all(
    SERVICES.filter((role) => role !== "director").map((role) => server!.bus(role)),
  );
  const waiting = Promise.all(early.map((bus) => provision(bus)));
  const { created } = await provision(await server.bus("director"));
  expect(created.length).toBeGreaterThan(20);
  expect(await waiting).toHaveLength(early.length);
});

it("a service with another number of partitions than the server's does not start", async () => {
  server = await startProvisioned();
  await expect(provision(await server.bus("associate"), { partitions: 2 })).rejects.toMatchObject({
    code: "ANT_NATS_PARTITIONS",
  });
});
