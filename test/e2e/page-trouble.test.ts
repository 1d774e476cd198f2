/**
 * The page when things go wrong around it, in a real browser: the network is lost, two people act at once, a change is
 * another one than the one that was looked at, messages are given up, and output is as large and as hostile as it may be.
 */
import { join } from "node:path";
import { journalStream, subjects } from "@antiphon/contracts";
import {
  connectBus,
  createLogger,
  openDeadLetters,
  openJournal,
  readNatsUser,
  unsafeTrust,
} from "@antiphon/runtime";
import type { Bus } from "@antiphon/runtime";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ANN, BEN, submit as submitFor, untilStatus, type Asked, usePages } from "./support/browser.ts";
import { patient } from "../support/patience.ts";
import { openWire } from "./support/cut-wire.ts";
import { ANTIPHON, eventually, exitOf, start } from "./support/program.ts";
import { CHECK, FIX } from "./support/project.ts";

/** Keeps the duration of the page's longest task. */
const WATCH_TASKS = `window.seen = { longest: 0 };
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) window.seen.longest = Math.max(window.seen.longest, duration);
}).observe({ type: "longtask" });`;

const world = usePages();
let bus: Bus;

beforeAll(async () => {
  bus = await connectBus({
    servers: world.stack.ready.nats,
    user: readNatsUser("admin", join(world.stack.stateDir, "nats-users/admin.nk")),
    name: "page test",
    log: createLogger("test", { level: "silent" }),
    trust: unsafeTrust,
  });
});
afterAll(async () => {
  await bus.close();
});

const pageOf = (token: string): Promise<Page> => world.windows.of(world.stack.ready.gateway, token);
const submit = (page: Page, asked: Asked): Promise<string> => submitFor(page, world.project, asked);

test("a page that loses the network says so, and shows the rest of the run once it is back, each record once", async () => {
  const wire = await openWire(world.stack.ready.gateway);
  try {
    const ann = await world.windows.of(wire.url, ANN);
    const runId = await submit(ann, { approvals: 1 });
    await untilStatus(ann, "waiting for you");
    wire.cut();
    await ann.getByText("Connection lost").waitFor();
    const decided = await world.stack.antiphon(["approve", runId], { env: { ANTIPHON_TOKEN: BEN } });
    expect(decided.code).toBe(0);
    expect((await world.stack.antiphon(["wait", runId], { env: { ANTIPHON_TOKEN: BEN } })).code).toBe(0);
    await untilStatus(ann, "waiting for you"); // as it was when the network was lost
    wire.mend();
    await untilStatus(ann, "succeeded");
    await ann.getByRole("tab", { name: "records" }).click();
    const { body } = await world.stack.http("GET", `/runs/${runId}/events`, undefined, {
      authorization: `Bearer ${BEN}`,
      accept: "application/json",
    });
    const types = (body["records"] as { type: string }[]).map(({ type }) => type);
    await expect.poll(() => ann.locator(".records li code").allInnerTexts()).toEqual(types);
  } finally {
    await wire.close();
  }
});

test("two people who decide at once make one decision, and both see it", async () => {
  const [ann, ben] = [await pageOf(ANN), await pageOf(BEN)];
  const runId = await submit(ann, { approvals: 1 });
  await untilStatus(ann, "waiting for you");
  await ben.goto(`${world.stack.ready.gateway}/#/runs/${runId}`);
  await untilStatus(ben, "waiting for you");
  // Neither decision is sent before both have pressed their button, which the other's decision would take away.
  let pressed = 0;
  let send = (): void => undefined;
  const bothPressed = new Promise<void>((resolve) => (send = resolve));
  for (const page of [ann, ben])
    await page.route(/\/runs\/[^/]+\/events$/, async (route) => {
      if (route.request().method() === "POST" && (pressed += 1) === 2) send();
      if (route.request().method() === "POST") await bothPressed;
      await route.continue();
    });
  await Promise.all([
    ann.getByRole("button", { name: "Reject" }).click(),
    ben.getByRole("button", { name: "Approve" }).click(),
  ]);
  for (const page of [ann, ben])
    await page.getByRole("button", { name: "Approve" }).waitFor({ state: "detached" });
  const { body } = await world.stack.http("GET", `/runs/${runId}`, undefined, {
    authorization: `Bearer ${BEN}`,
  });
  await untilStatus(ann, body["status"] === "succeeded" ? "succeeded" : "failed");
  await untilStatus(ben, body["status"] === "succeeded" ? "succeeded" : "failed");
  expect(world.project.landed(runId)).toHaveLength(body["status"] === "succeeded" ? 1 : 0);
});

test("a decision about a change that is not the waiting one any more is refused by name, and nothing lands", async () => {
  const [ann, ben] = [await pageOf(ANN), await pageOf(BEN)];
  const runId = await submit(ann, { approvals: 1 });
  await untilStatus(ann, "waiting for you");
  await ben.route(/\/runs\/[^/]+\/events$/, async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    const { verdict: _, ...word } = route.request().postDataJSON() as Record<string, unknown>;
    // A page that was opened before the change was tried again sends the verdict of that time.
    await route.continue({ postData: JSON.stringify({ ...word, verdict: `sha256-${"A".repeat(43)}` }) });
  });
  await ben.goto(`${world.stack.ready.gateway}/#/runs/${runId}`);
  await ben.getByRole("button", { name: "Approve" }).click();
  await ben.getByRole("alert").getByText("ANT_APPROVAL_STALE").waitFor();
  await untilStatus(ann, "waiting for you");
  expect(world.project.landed(runId)).toEqual([]);
});

test(
  "a run on a full disk is told of by the page, the doctor and the one who watches it, and lands once there is space again",
  async () => {
    const as = { env: { ANTIPHON_TOKEN: BEN } };
    const page = await pageOf(ANN);
    const commands = ["--command", `sleep 4; ${FIX}`, "--check", CHECK, "--detach"];
    const started = ["run", "Fix the broken add", "--repo", world.project.path, ...commands];
    const runId = (await world.stack.antiphon(started, as)).stdout.trim();
    const journal = openJournal(bus);
    await eventually("it is claimed", async () =>
      (await journal.read(runId)).some(({ type }) => type === "claim") ? true : null,
    );
    const streams = Array.from({ length: bus.partitions }, (_, n) => journalStream(n));
    const bounded = async (bytes: (used: number) => number): Promise<void> => {
      for (const name of streams) {
        const { state } = await bus.jsm.streams.info(name);
        await bus.jsm.streams.update(name, { max_bytes: bytes(state.bytes) });
      }
    };
    const watcher = start(process.execPath, [ANTIPHON, "wait", runId], {
      env: { ANTIPHON_GATEWAY_URL: world.stack.ready.gateway, ...as.env },
    });
    let said = "";
    watcher.stderr?.on("data", (data: Buffer) => (said += data.toString()));
    await bounded((used) => used);
    try {
      await eventually(
        "the watched run says so",
        () => (/^.* T-001 .*ANT_NATS_NO_SPACE/m.test(said) ? true : null),
        60_000,
      );
      await page.getByText("ANT_NATS_NO_SPACE").first().waitFor();
      const { document } = await world.stack.json<{ findings: Finding[] }>(["doctor"], as);
      expect(document.findings.find(({ name }) => name === "JetStream")).toMatchObject({
        state: "problem",
        detail: expect.stringContaining("ANT_NATS_NO_SPACE") as string,
      });
    } finally {
      await bounded(() => -1);
    }
    expect(await exitOf(watcher)).toBe(0);
    expect(world.project.landed(runId)).toHaveLength(1);
    const again = await world.stack.json<{ findings: Finding[] }>(["doctor"], as);
    expect(again.document.findings.find(({ name }) => name === "JetStream")).toMatchObject({ state: "ok" });
  },
  patient(180_000),
);

interface Finding {
  readonly name: string;
  readonly state: string;
  readonly detail: string;
}

test("a dead letter is requeued with one press: its record is delivered again and the letter is gone", async () => {
  const page = await pageOf(ANN);
  const runId = await submit(page, { approvals: 1 });
  await untilStatus(page, "waiting for you");
  const [intent] = await openJournal(bus).read(runId);
  if (intent === undefined) throw new Error("unreachable");
  const origin = {
    subject: subjects.journal(intent, bus.partitions),
    seq: intent.seq,
    stream: "ANT_JOURNAL_0",
  };
  const given = { consumer: "router", code: "ANT_INTERNAL", detail: "<i>given up</i>", deliveries: 3 };
  await openDeadLetters(bus).bury({ ...given, origin, data: new Uint8Array() });
  await page.getByRole("link", { name: "Operations" }).click();
  const letter = page
    .getByRole("region", { name: "Dead letters" })
    .getByRole("listitem")
    .filter({ hasText: runId });
  await letter.getByText("<i>given up</i>").waitFor();
  await letter.getByRole("button", { name: "Requeue" }).click();
  await letter.waitFor({ state: "detached" });
  const types = (await openJournal(bus).read(runId)).map(({ type }) => type);
  expect(types).toContain("requeue");
});

test("50 MB of hostile output and a large hostile change leave the page quick, and do nothing in it", async () => {
  const page = await pageOf(ANN);
  const line = `<script>document.title="owned"</script>\\033]0;owned\\007\\342\\200\\256 evil`;
  const flood = `yes "$(printf '${line}')" | head -c 50000000`;
  const wide = `yes '<img src=x onerror=alert(1)>' | head -n 20000 > evil.html`;
  const runId = await submit(page, { commands: [FIX, flood, wide].join("\n") });
  await page.evaluate(WATCH_TASKS);
  await expect
    .poll(() => page.locator(".run-head .status").first().innerText(), { timeout: patient(120_000) })
    .toMatch(/succeeded|failed/);
  await page.locator(".diff").first().waitFor();
  const wideFile = page.locator("details", { hasText: "evil.html" });
  await wideFile.locator("summary").click();
  await wideFile.getByRole("button", { name: "Show more of 18000 lines" }).click();
  await wideFile.getByRole("button", { name: "Show more of 16000 lines" }).waitFor();
  await page.getByRole("tab", { name: "evidence" }).click();
  await page.locator("details summary").first().waitFor();
  for (const file of await page.locator("details summary").all()) await file.click();
  await page.getByText("The first 256 KiB of it.").first().waitFor();
  expect(await page.title()).toMatch(/^(\(\d+\) )?Antiphon$/);
  expect(await page.locator("main img, main script").count()).toBe(0);
  const longest = await page.evaluate("window.seen.longest");
  expect(longest, `the longest task of the page in ms, ${runId}`).toBeLessThan(patient(3_000));
});
