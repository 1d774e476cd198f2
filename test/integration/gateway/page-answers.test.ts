/** Every answer of the page's routes: the policy that bounds what the page may load, and whom the gateway answers at all. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorOf, openWorld, type World } from "./gateway-world.ts";

let world: World;
let built: string;

beforeAll(async () => {
  built = mkdtempSync(join(tmpdir(), "antiphon-page-"));
  writeFileSync(join(built, "index.html"), "<!doctype html><title>page</title>");
  writeFileSync(join(built, "main.js"), "0;");
  writeFileSync(join(built, "main.css"), "a{}");
  world = await openWorld({ page: built, token: "the-token-of-this-deployment" });
});
afterAll(async () => {
  await world.close();
  rmSync(built, { recursive: true, force: true });
});

describe("an answer of the page", () => {
  it.each(["/", "/page/main.js", "/page/main.css"])(
    "to %s lets it load from the gateway only and be framed by nobody, also when nothing has changed",
    async (path) => {
      const first = await world.call("GET", path);
      const etag = String(first.headers["etag"]);
      const again = await world.call("GET", path, { headers: { "if-none-match": etag } });
      expect([first.status, again.status]).toEqual([200, 304]);
      for (const { headers } of [first, again]) {
        const policy = String(headers["content-security-policy"]).split("; ");
        expect(policy).toContain("default-src 'none'");
        expect(policy).toContain("script-src 'self'");
        expect(policy).toContain("connect-src 'self'");
        expect(policy).toContain("frame-ancestors 'none'");
        expect(headers["x-content-type-options"]).toBe("nosniff");
      }
    },
  );

  it("to a file that it does not have is an error that no browser runs", async () => {
    const answer = await world.call("GET", "/page/absent.js");
    expect([answer.status, errorOf(answer).code]).toEqual([404, "ANT_GATEWAY_ROUTE"]);
    expect(answer.headers["content-type"]).toMatch(/^application\/problem\+json/);
    expect(answer.headers["x-content-type-options"]).toBe("nosniff");
  });

  it.each([
    ["a foreign Host", { host: "evil.example" }, "ANT_GATEWAY_HOST"],
    ["a foreign Origin", { origin: "http://evil.example" }, "ANT_GATEWAY_ORIGIN"],
  ])("is refused to %s, although the page needs no token", async (_from, headers, code) => {
    const page = await world.call("GET", "/", { headers });
    expect([page.status, errorOf(page).code]).toEqual([403, code]);
  });

  it("opens from a link on another site, whose pages can write nothing, even with a token", async () => {
    const from = { "sec-fetch-site": "cross-site" };
    expect((await world.call("GET", "/", { headers: from })).status).toBe(200);
    const before = await world.stored();
    const headers = { ...from, authorization: "Bearer the-token-of-this-deployment" };
    const write = await world.call("POST", "/intents", { headers, body: {} });
    expect([write.status, errorOf(write).code]).toEqual([403, "ANT_GATEWAY_ORIGIN"]);
    expect(await world.stored()).toBe(before);
  });
});
