/** contracts/C7: every principal on every subject of the table, with a real client against a real server. */
import { PermissionViolationError, createInbox, type NatsConnection } from "@nats-io/nats-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { API_PREFIX, localSubject } from "../../../contracts/src/principals/nats-accounts.ts";
import { LIMITED, startProvisioned, type UsersServer } from "../../support/nats-users.ts";
import { LETTERS, TABLE, type Row } from "./rights-table.ts";

type Limited = (typeof LIMITED)[number];

let server: UsersServer;
const clients = new Map<Limited, NatsConnection>();
/** What the server refused, by client. */
const refused = new Map<Limited, Set<string>>();

beforeAll(async () => {
  server = await startProvisioned();
  for (const principal of LIMITED) {
    const client = await server.client(principal);
    clients.set(principal, client);
    const seen = new Set<string>();
    refused.set(principal, seen);
    void (async () => {
      for await (const status of client.status())
        if (status.type === "error" && status.error instanceof PermissionViolationError)
          seen.add(`${status.error.operation} ${status.error.subject}`);
    })();
  }
  const serve = (principal: Limited, ...subjects: string[]): void => {
    for (const subject of subjects)
      clients
        .get(principal)!
        .subscribe(subject, { callback: (_error, message) => void message.respond("here") });
  };
  serve(
    "director",
    "antiphon.v1.rpc.repo.inspect",
    "antiphon.v1.rpc.repo.check",
    "antiphon.v1.rpc.repo.export",
    "antiphon.v1.rpc.session.deed",
  );
  serve("director", ...["contract", "rebuild", "restore"].map((name) => `antiphon.v1.rpc.run.${name}`));
  serve("sandbox-runner", "antiphon.v1.rpc.sandbox.run", "antiphon.v1.rpc.sandbox.images");
  serve(
    "egress",
    "antiphon.v1.rpc.egress.models",
    "antiphon.v1.rpc.egress.open",
    "antiphon.v1.rpc.egress.close.n1",
  );
  for (const principal of ["director", "associate"] as const)
    serve(principal, "$SRV.PING", `$SRV.PING.${principal}`);
  serve("director", "$SRV.INFO.director.d1");
  serve("associate", "$SRV.STATS.associate.a1");
  await Promise.all([...clients.values()].map((client) => client.flush()));
});

afterAll(() => server.close());

function payload(subject: string): string {
  if (subject.includes(".MSG.NEXT.")) return '{"batch":1,"no_wait":true}';
  const isRead = /\.(DIRECT\.GET|INFO|NAMES|LIST)(\.|$)/.test(subject);
  // Malformed, so that an allowed request to change something is answered with an error.
  return subject.startsWith("$JS.API.") && !isRead ? "{" : "";
}

/** True: the server accepted it and, where the row says so, it was answered. */
async function succeeds(principal: Limited, { subject, shown }: Row, name: string): Promise<boolean> {
  const client = clients.get(principal)!;
  const denied = refused.get(principal)!;
  const action = `${shown === "subscribe" ? "subscription" : "publish"} ${name}`;
  denied.delete(action);
  const inbox = createInbox();
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const subscription = client.subscribe(shown === "subscribe" ? name : inbox, { callback: () => answer() });
  if (shown !== "subscribe")
    client.publish(name, payload(subject), shown === "answer" ? { reply: inbox } : {});
  try {
    await client.flush(); // A refusal comes before the answer to the flush.
    await new Promise((resolve) => setImmediate(resolve)); // The library hands it on in a later turn.
    if (denied.has(action)) return false;
    if (shown === "answer") await within(answered, `${principal} on ${name}: neither refused nor answered`);
    return true;
  } finally {
    subscription.unsubscribe();
  }
}

async function within(done: Promise<void>, what: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => (timer = setTimeout(() => reject(new Error(what)), 5_000)));
  await Promise.race([done, late]).finally(() => clearTimeout(timer));
}

describe("contracts/C7: principals and subjects", () => {
  it("make at least 600 cells, and every principal has allowed and refused ones", () => {
    expect(TABLE.length * LIMITED.length).toBeGreaterThanOrEqual(600);
    for (const principal of LIMITED) {
      const letter = LETTERS[principal];
      const allowed = TABLE.filter((row) => row.allowed.includes(letter)).length;
      expect(allowed, principal).toBeGreaterThan(5);
      expect(allowed, principal).toBeLessThan(TABLE.length - 5);
    }
  });

  it.each(TABLE)("$shown $subject: only [$allowed]", async (row) => {
    const found: string[] = [];
    for (const principal of LIMITED) {
      const name = localSubject(principal, row.subject);
      if (await succeeds(principal, row, name)) found.push(LETTERS[principal]);
      // The other name of a request to JetStream must not be a way around.
      const other = row.subject.replace("$JS.API", API_PREFIX);
      if (name === row.subject && other !== name && !row.subject.includes(".DIRECT.GET."))
        expect(await succeeds(principal, row, other), `${principal} on ${other}`).toBe(false);
      else if (name !== row.subject)
        expect(await succeeds(principal, row, row.subject), `${principal} on ${row.subject}`).toBe(false);
    }
    expect(found.sort()).toEqual([...row.allowed].sort());
  });
});
