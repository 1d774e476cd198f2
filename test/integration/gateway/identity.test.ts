/**
 * Who may do what: every role against every route, tenants that come from the identity, and people of a real local OpenID
 * Connect issuer with good, foreign, expired and forged tokens.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { subjects, type HeldAttempts } from "@antiphon/contracts";
import { createLogger, serveRpc } from "@antiphon/runtime";
import { ROLES, type Right, type Role } from "../../../services/gateway/src/identity/roles.ts";
import { rightsFor, ROUTE_RIGHTS } from "../../../services/gateway/src/identity/route-rights.ts";
import { patient } from "../../support/patience.ts";
import { cleanUpRepos, makeRepo } from "../../support/repo.ts";
import { errorOf, intentFor, openWorld, type Answer, type World } from "./gateway-world.ts";

const SHARED = "the-token-of-this-deployment";
const AUDIENCE = "antiphon-test";
const secretOf = (name: string): string => `the-secret-of-${name}-0123456789`;
const PEOPLE: Readonly<Record<string, readonly Role[]>> = {
  vera: ["viewer"],
  sam: ["submitter"],
  ada: ["approver"],
  root: ["admin"],
};
const RIGHTS: Readonly<Record<Role, readonly Right[]>> = {
  viewer: ["read"],
  submitter: ["read", "submit"],
  approver: ["read", "decide"],
  admin: ["read", "submit", "decide", "operate"],
};

let world: World;
let issuer: Server;
let issuerUrl: string;
let repo: string;
let signing: Awaited<ReturnType<typeof generateKeyPair>>["privateKey"];

beforeAll(async () => {
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  signing = privateKey;
  const jwk = { ...(await exportJWK(publicKey)), kid: "one", alg: "ES256", use: "sig" };
  issuer = createServer(({ url }, response) => {
    const known: Record<string, unknown> = {
      "/.well-known/openid-configuration": { issuer: issuerUrl, jwks_uri: `${issuerUrl}/keys` },
      "/keys": { keys: [jwk] },
    };
    const found = known[url ?? ""];
    response.writeHead(found === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(found ?? {}));
  });
  await new Promise<void>((done) => issuer.listen(0, "127.0.0.1", done));
  issuerUrl = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`;
  repo = makeRepo({ files: { "a.txt": "a\n" } }).path;
  world = await openWorld({
    token: SHARED,
    people: Object.keys(PEOPLE).map((name) => ({ name, token: secretOf(name) })),
    directory: { roles: new Map(Object.entries(PEOPLE)), tenants: new Map([["sam", "red"]]) },
    oidc: {
      ...{ issuer: issuerUrl, audience: AUDIENCE, nameClaim: "email" },
      ...{ rolesClaim: "roles", tenantClaim: "org" },
    },
  });
  answerForNeighbours();
});
afterAll(async () => {
  await world.close();
  await new Promise((done) => issuer.close(done));
  cleanUpRepos();
});

/** A runner without images and an egress gateway without models: asked in vain, a gateway would wait for them. */
function answerForNeighbours(): void {
  const log = createLogger("test", { level: "silent" });
  const images = { node: "a-runner", images: [] };
  serveRpc(world.bus, subjects.sandboxImages, "a-runner", () => Promise.resolve(images), { log });
  const models = { node: "an-egress-gateway", file: null, hosts: [], unusable: [] };
  serveRpc(world.bus, subjects.egressModels, "an-egress-gateway", () => Promise.resolve(models), { log });
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

/** The token of a session that `token` opened. */
async function sessionOf(token: string): Promise<string> {
  const { status, body, text } = await world.call("POST", "/sessions", bearer(token));
  expect(status, text).toBe(201);
  return String(body["token"]);
}

async function post(token: string, path: string, body?: unknown): Promise<Answer> {
  const sent = body === undefined ? {} : { body };
  return world.call("POST", path, { ...bearer(await sessionOf(token)), ...sent });
}

const ABSENT: Readonly<Record<string, string>> = {
  ":id": "run_absent",
  ":task": "T-001",
  ":epoch": "1",
  "*": "diff.patch",
};
/** Addresses something that does not exist, so an allowed request changes nothing. */
const addressOf = (route: string): string =>
  route.replace(/:id|:task|:epoch|\*/g, (part) => ABSENT[part] ?? part);

/** Everybody opens a session to send the others, so that route is tried all the time. */
const ROUTES = Object.entries(ROUTE_RIGHTS).filter(([route]) => route !== "POST /sessions");

describe.each(ROLES)("a person with the role %s", (role) => {
  const name = Object.keys(PEOPLE).find((one) => PEOPLE[one]?.includes(role)) ?? "";

  it.each(ROUTES)("gateway/G4: meets %s according to its rights", async (route, wanted) => {
    const [method = "", path = ""] = route.split(" ");
    const before = await world.stored();
    const answer =
      method === "POST"
        ? await post(secretOf(name), addressOf(path), {})
        : await world.call(method, addressOf(path), bearer(secretOf(name)));
    const isAllowed = wanted.some((right) => RIGHTS[role].includes(right));
    const refused = answer.status === 403 && errorOf(answer)["code"] === "ANT_GATEWAY_ROLE";
    expect([refused, answer.status], answer.text.slice(0, 300)).toEqual([!isAllowed, answer.status]);
    if (refused) expect(await world.stored()).toBe(before);
  });
});

describe("a route without a row", () => {
  it("gateway/G4: is for admins alone", () => {
    expect(rightsFor("POST", "/unlisted")).toEqual(["operate"]);
    expect(rightsFor("HEAD", "/runs")).toEqual(["read"]);
  });
});

describe("an approval", () => {
  it.each([
    ["sam", "ANT_GATEWAY_ROLE"],
    ["ada", "ANT_RUN_NOT_FOUND"],
  ])("of %s is answered with %s: deciding is a right of its own", async (name, code) => {
    const body = { event: "approval", choice: "approve" };
    expect(errorOf(await post(secretOf(name), "/runs/run_absent/events", body))["code"]).toBe(code);
  });
});

describe("a message", () => {
  it.each([
    ["ada", "ANT_GATEWAY_ROLE"],
    ["sam", "ANT_RUN_NOT_FOUND"],
  ])("of %s is answered with %s: who may only decide instructs no agent", async (name, code) => {
    const body = { event: "message", text: "keep the name" };
    expect(errorOf(await post(secretOf(name), "/runs/run_absent/events", body))["code"]).toBe(code);
  });
});

it("a person who may only look opens a session to read, but none of a repository, which would be stored", async () => {
  const before = await world.stored();
  const body = { repo: { name: "app", path: repo } };
  const answer = await world.call("POST", "/sessions", { ...bearer(secretOf("vera")), body });
  expect([answer.status, errorOf(answer)["code"]]).toEqual([403, "ANT_GATEWAY_ROLE"]);
  expect(await world.stored()).toBe(before);
});

describe("a tenant", () => {
  const tenantOf = async (token: string, inputs: Record<string, unknown> = {}) => {
    const answer = await post(token, "/intents", intentFor(repo, inputs));
    if (answer.status >= 400) return errorOf(answer)["code"];
    const stored = await world.call("GET", `/intents/${String(answer.body["intentId"])}`, bearer(SHARED));
    return (stored.body["intent"] as { inputs: { tenant?: string } }).inputs.tenant ?? null;
  };

  it("is the caller's own, whatever the body says", async () => {
    expect(await tenantOf(secretOf("sam"))).toBe("red");
    expect(await tenantOf(secretOf("sam"), { tenant: "red" })).toBe("red");
    expect(await tenantOf(secretOf("sam"), { tenant: "blue" })).toBe("ANT_GATEWAY_TENANT");
  });

  it("cannot be named by a caller to whom the deployment assigns none", async () => {
    expect(await tenantOf(secretOf("root"), { tenant: "red" })).toBe("ANT_GATEWAY_TENANT");
    expect(await tenantOf(secretOf("root"))).toBeNull();
  });

  it("of the provider's people is their claim", async () => {
    expect(
      await tenantOf(await tokenOf({ email: "kim@example.org", roles: ["submitter"], org: "blue" })),
    ).toBe("blue");
  });
});

describe("the queues", () => {
  const HELD: readonly HeldAttempts[] = [
    { tenant: "blue", priority: "interactive", attempts: 4 },
    { tenant: "red", priority: "batch", attempts: 3 },
    { tenant: "default", priority: "batch", attempts: 2 },
  ];

  beforeAll(() => {
    const held = () => Promise.resolve({ held: HELD });
    const log = createLogger("test", { level: "silent" });
    serveRpc(world.bus, subjects.directorAdmission, "another-director", held, { log });
  });

  const tenantsFor = async (token: string): Promise<unknown> => {
    const { body } = await world.call("GET", "/queues", bearer(token));
    return (body["held"] as HeldAttempts[]).map(({ tenant }) => tenant);
  };

  it("gateway/G4: name to a reader no other tenant than its own, and all to an admin and to the deployment", async () => {
    // A Director that does not answer in time is left out.
    await expect.poll(() => tenantsFor(secretOf("root")), { timeout: patient(15_000) }).toHaveLength(3);
    expect(await tenantsFor(secretOf("sam"))).toEqual(["red"]);
    expect(await tenantsFor(secretOf("vera")), "who has none").toEqual(["default"]);
    expect(await tenantsFor(await tokenOf({ email: "kim@example.org", org: "blue" }))).toEqual(["blue"]);
    expect(await tenantsFor(await sessionOf(secretOf("sam"))), "over a session").toEqual(["red"]);
    for (const token of [secretOf("root"), SHARED])
      expect(await tenantsFor(token)).toEqual(["blue", "red", "default"]);
  });
});

async function tokenOf(
  claims: Record<string, unknown>,
  { key = signing, kid = "one", iss = issuerUrl, aud = AUDIENCE, exp = "5m" } = {},
): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: "ES256", kid })
    .setSubject("248289761001")
    .setIssuer(iss)
    .setAudience(aud)
    .setIssuedAt()
    .setExpirationTime(exp)
    .sign(key);
}

describe("a person of an OpenID Connect provider", () => {
  const KIM = { email: "kim@example.org", roles: ["submitter", "king"], org: "blue" };

  it("reads, opens a session and submits under the name of the token", async () => {
    const token = await tokenOf(KIM);
    expect((await world.call("GET", "/runs", bearer(token))).status).toBe(200);
    const intent = await post(token, "/intents", intentFor(repo));
    const started = await post(token, `/intents/${String(intent.body["intentId"])}/run`);
    expect(started.status, started.text).toBe(202);
    const [record] = await world.journal.read(String(started.body["runId"]));
    expect(record?.type === "intent" && record.body.principal).toBe("oidc:kim@example.org");
  });

  it("has the roles of the token that exist, and looks only if it names none", async () => {
    const refused = await post(await tokenOf(KIM), "/runs/run_absent/restore");
    expect(errorOf(refused)["code"]).toBe("ANT_GATEWAY_ROLE");
    const looking = await post(await tokenOf({ email: "lee@example.org" }), "/intents", intentFor(repo));
    expect(errorOf(looking)["code"]).toBe("ANT_GATEWAY_ROLE");
  });

  it("cannot take the name of a local person or of everybody", async () => {
    const token = await tokenOf({ ...KIM, email: "root" });
    expect(errorOf(await post(token, "/runs/run_absent/restore"))["code"]).toBe("ANT_GATEWAY_ROLE");
  });

  it.each<[string, () => Promise<string>]>([
    ["for another client", () => tokenOf(KIM, { aud: "another" })],
    ["that has expired", () => tokenOf(KIM, { exp: "-5m" })],
    ["of an unknown key", async () => tokenOf(KIM, { key: (await generateKeyPair("ES256")).privateKey })],
    ["with an unknown key id", () => tokenOf(KIM, { kid: "two" })],
    ["without a name", () => tokenOf({ roles: ["admin"] })],
    ["with a name that has spaces", () => tokenOf({ ...KIM, email: "kim (admin)" })],
    [
      "without a signature",
      () =>
        Promise.resolve(
          new UnsecuredJWT({ ...KIM, roles: ["admin"] })
            .setIssuer(issuerUrl)
            .setAudience(AUDIENCE)
            .setSubject("1")
            .setExpirationTime("5m")
            .encode(),
        ),
    ],
    ["of another issuer", () => tokenOf(KIM, { iss: "https://elsewhere.example.org" })],
  ])("gets 401 with a token %s", async (_title, make) => {
    const token = await make();
    for (const answer of [
      await world.call("GET", "/runs", bearer(token)),
      await world.call("POST", "/sessions", bearer(token)),
    ])
      expect([answer.status, errorOf(answer)["code"]]).toEqual([401, "ANT_GATEWAY_TOKEN_REQUIRED"]);
  });
});
