/**
 * The page in a real browser (Debian's Chromium): sign in, submit, watch, approve, reject, answer; untrusted text that
 * tries to be markup; and what a person with a screen reader meets (axe).
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { FileBacklog } from "../../services/director/src/work-items/file-backlog.ts";
import { ANN, BEN, submit as submitFor, untilStatus, type Asked, usePages } from "./support/browser.ts";
import { eventually } from "./support/program.ts";
import { CHECK, FIX } from "./support/project.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const world = usePages();

const pageOf = (token: string, viewport?: { width: number; height: number }): Promise<Page> =>
  world.windows.of(world.stack.ready.gateway, token, viewport);
const submit = (page: Page, asked: Asked): Promise<string> => submitFor(page, world.project, asked);

describe("a person with the page", () => {
  test("submits an intent, sees it land, and reads its change, checks and verified signatures", async () => {
    const page = await pageOf(ANN);
    const runId = await submit(page, {});
    await untilStatus(page, "succeeded");
    expect(world.project.landed(runId)).toHaveLength(1);
    await page.locator(".diff").first().waitFor();
    await page.getByRole("tab", { name: "checks" }).click();
    await page.getByText("exit 0").first().waitFor();
    await page.getByRole("tab", { name: "evidence" }).click();
    await page.getByText("signature verified here").first().waitFor();
    expect(await page.getByText("signature verified here").count()).toBeGreaterThanOrEqual(3);
    await page.getByLabel("Time in this run").fill("1");
    await untilStatus(page, "queued"); // as it was at its first record
  });

  test("chooses an agent pack: the form asks for its budget instead of commands, and for no more than a goal", async () => {
    const page = await pageOf(ANN);
    await page.getByText("New run").click();
    await page.getByLabel("Goal").fill("Fix the broken add");
    await page.getByLabel(/^Repository/).fill(world.project.path);
    await page.locator("option[value=codex]").waitFor({ state: "attached" });
    await page.getByLabel("Agent").selectOption("codex");
    expect(await page.getByLabel(/^(Commands|Program)/).count()).toBe(0);
    await page.getByLabel(/may cost/).fill("0.5");
    // It gets no further than this: where there is a key, the agent would be installed and paid.
    const refused = { code: "ANT_GATEWAY_BUSY", message: "not in this test", remedy: "Try again later." };
    await page.route(/\/intents$/, (route) => route.fulfill({ status: 429, json: { error: refused } }));
    const asked = page.waitForRequest((request) => request.url().endsWith("/intents"));
    await page.getByRole("button", { name: "Start the run" }).click();
    await page.locator(".action .notice").getByText("ANT_GATEWAY_BUSY").waitFor();
    expect((await asked).postDataJSON()).toMatchObject({
      inputs: { agent: { kind: "pack", name: "codex" } },
      constraints: { model_budget: { usd_micro: 500_000 } },
    });
  });

  test("starts the daily brief, which has no repository, and reads it; a connector that is not there is refused by name", async () => {
    const { path } = world.project;
    const file = new FileBacklog(join(world.stack.stateDir, "work-items")).pathOf({ name: "app", path });
    mkdirSync(dirname(file), { recursive: true });
    const items = [
      { id: "1", title: "Infra is slow", status: "open" },
      { id: "2", title: "New colours", status: "open" },
    ];
    writeFileSync(file, JSON.stringify({ v: 1, items }));
    const page = await pageOf(ANN, { width: 360, height: 740 });
    await page.getByText("New run").click();
    await page.getByLabel("Goal").fill("daily brief");
    await page.getByLabel("What it is about").selectOption("brief");
    expect(await page.getByLabel(/^(Repository|Checks|Approvals|Also move)/).count()).toBe(0);
    await page.getByLabel(/^Topics/).fill("infra");
    await page.getByLabel(/^Projects/).fill(path);
    await page.getByLabel("Reads").selectOption("pull-requests");
    await page.getByRole("button", { name: "Start the run" }).click();
    await page.locator(".action .notice").getByText("pull-requests").first().waitFor();
    await page.getByLabel("Reads").selectOption("work-items");
    await page.getByRole("button", { name: "Start the run" }).click();
    await page.waitForURL(/#\/runs\/run_/);
    await untilStatus(page, "succeeded");
    await page.getByRole("tab", { name: "evidence" }).click();
    await page.getByText("brief.md").first().click();
    await page.getByText("**Infra is slow** (open)").first().waitFor();
    expect(await page.getByText("New colours").count()).toBe(0);
    await page.goBack();
    await page.getByText("New run").click();
    // The form offers the repository of the newest run that has one, once it knows the runs.
    const offered = await page.getByLabel(/^Repository/).inputValue();
    expect(offered, "a brief's place is no repository").toMatch(/^$|antiphon-project-/);
  });

  test("approves what another person asked for: it lands then, and not before", async () => {
    const [ann, ben] = [await pageOf(ANN), await pageOf(BEN, { width: 360, height: 740 })];
    const runId = await submit(ann, { approvals: 1 });
    await untilStatus(ann, "waiting for you");
    expect(world.project.landed(runId)).toEqual([]);
    await ben.getByRole("button", { name: /wait.? for you/ }).click();
    await ben.locator(`a[href="#/runs/${runId}"]`).click(); // Other runs with that goal may wait as well.
    await ben.getByRole("button", { name: "Approve" }).click();
    await untilStatus(ben, "succeeded");
    await untilStatus(ann, "succeeded");
    expect(world.project.landed(runId)).toHaveLength(1);
    const width = await ben.evaluate("document.documentElement.scrollWidth");
    expect(width, "a phone of 360 px scrolls down only").toBeLessThanOrEqual(360);
  });

  test("tells a running attempt something, which it reads; the field has no fault for axe and goes with the attempt", async () => {
    const [ann, ben] = [await pageOf(ANN), await pageOf(BEN, { width: 360, height: 740 })];
    const commands = [`while ! grep -q plus said.txt; do antiphon-inbox --wait >> said.txt; done`, FIX].join(
      "\n",
    );
    const runId = await submit(ann, { commands, approvals: 1 });
    await ben.goto(`${world.stack.ready.gateway}/#/runs/${runId}`);
    const field = ben.getByRole("region", { name: "Messages to T-001" });
    await field.getByLabel(/^Message/).fill("<b>use</b> \u202eplus");
    await ben.evaluate(AXE);
    const found = await ben.evaluate(
      "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`))",
    );
    expect(found).toEqual([]);
    expect(await ben.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
    await field.getByRole("button", { name: "Tell it" }).click();
    await untilStatus(ben, "waiting for you");
    expect(await field.count(), "the attempt is over").toBe(0);
    await ben.getByRole("button", { name: "Approve" }).click();
    await ben.getByRole("alert").getByText("ANT_APPROVAL_OWN").waitFor();
    await ann.getByRole("tab", { name: "records" }).click();
    await ann
      .getByText(/message/)
      .first()
      .waitFor();
    const { body } = await world.stack.http("GET", `/runs/${runId}/events`, undefined, {
      ...{ accept: "application/json", authorization: `Bearer ${ANN}` },
    });
    const said = (body["records"] as { type: string; body: object }[]).filter(
      ({ type }) => type === "message",
    );
    expect(said.map(({ body: words }) => words)).toEqual([
      expect.objectContaining({ task: "T-001", attempt: 1, by: "ben", text: "<b>use</b> \u202eplus" }),
    ]);
  });

  test("rejects: nothing lands, and the reason is shown", async () => {
    const [ann, ben] = [await pageOf(ANN), await pageOf(BEN)];
    const runId = await submit(ann, { approvals: 1 });
    await untilStatus(ann, "waiting for you");
    await ben.goto(`${world.stack.ready.gateway}/#/runs/${runId}`);
    await ben.getByLabel(/^Reason/).fill("not in this release");
    await ben.getByRole("button", { name: "Reject" }).click();
    await untilStatus(ann, "failed");
    await ann.getByText("not in this release").first().waitFor();
    expect(world.project.landed(runId)).toEqual([]);
  });

  test("sees a task that waited when its run was canceled as canceled, and not as failed", async () => {
    const page = await pageOf(ANN);
    const runId = await submit(page, { approvals: 1 });
    await untilStatus(page, "waiting for you");
    expect((await world.stack.antiphon(["cancel", runId], { env: { ANTIPHON_TOKEN: ANN } })).code).toBe(0);
    await untilStatus(page, "canceled");
    const tasks = page.getByRole("region", { name: "Tasks" });
    await tasks.getByText("canceled", { exact: true }).waitFor();
    expect(await tasks.getByText("failed", { exact: true }).count()).toBe(0);
    await page.getByText("canceled by ann", { exact: true }).waitFor();
  });

  test("is refused by name when she approves her own change", async () => {
    const page = await pageOf(ANN);
    const runId = await submit(page, { approvals: 1 });
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("alert").waitFor();
    expect(await page.getByRole("alert").innerText()).toMatch(/ANT_[A-Z_]+/);
    expect(world.project.landed(runId)).toEqual([]);
  });

  test("hears of a run that waits, by the title and a notification that leads to it", async () => {
    const page = await world.windows.blank();
    await page.context().grantPermissions(["notifications"]);
    // The notices themselves are the browser's own; they are kept here, so that the test can press one.
    await page.addInitScript(`window.notices = []; window.Notification = new Proxy(Notification, {
      construct(made, given) { const one = Reflect.construct(made, given); notices.push(one); return one; },
    })`);
    await world.windows.signIn(page, world.stack.ready.gateway, BEN);
    const ann = await pageOf(ANN);
    const runId = await submit(ann, { approvals: 1 });
    const told = () => page.evaluate<true | null>(`notices.some(({ tag }) => tag === "${runId}") || null`);
    await eventually("a notification", told);
    expect(await page.title()).toMatch(/^\(\d+\) Antiphon$/);
    await page.evaluate(`notices.find(({ tag }) => tag === "${runId}").onclick()`);
    await page.getByRole("button", { name: "Approve" }).click();
    await untilStatus(page, "succeeded");
    expect(world.project.landed(runId)).toHaveLength(1);
  });

  test("reads what waits in the queues, and which agents a run may name", async () => {
    const page = await pageOf(ANN);
    await page.getByRole("link", { name: "Operations" }).click();
    const queues = page.getByRole("region", { name: "Queues" });
    await queues.getByRole("row", { name: /^director \d+ \d+ \d+$/ }).waitFor();
    await queues.getByText("Nothing.").waitFor();
    const agents = page.getByRole("region", { name: "Agents" });
    await agents.getByText(/^\d+ Associates? answers?$/).waitFor();
    await agents.getByRole("listitem").filter({ hasText: "@anthropic-ai/claude-code@" }).waitFor();
    await page.evaluate(AXE);
    const found = await page.evaluate(
      "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`))",
    );
    expect(found).toEqual([]);
  });

  test("is told that a run is part of a race, and is led to the other one", async () => {
    const racing = ["run", "Fix the broken add", "--repo", world.project.path, "--check", CHECK];
    const { document } = await world.stack.json<{ winner: string; runs: { runId: string }[] }>(
      [...racing, "--parallel", "2", "--command", FIX],
      { env: { ANTIPHON_TOKEN: ANN } },
    );
    const loser = document.runs.find(({ runId }) => runId !== document.winner)?.runId ?? "none";
    const page = await pageOf(ANN);
    await page
      .locator(`a[href="#/runs/${document.winner}"] .time`)
      .getByText(/^race, /)
      .waitFor();
    await page.locator(`a[href="#/runs/${document.winner}"]`).click();
    await page.getByText("Part of a race, of which one run lands.").waitFor();
    await page.locator(`.race a[href="#/runs/${loser}"]`).click();
    await page.locator(`.race a[href="#/runs/${document.winner}"]`).getByText("succeeded").waitFor();
  });

  test("with a wrong token sees nothing, and is asked again", async () => {
    const page = await world.windows.blank();
    await page.goto(world.stack.ready.gateway);
    await page.getByLabel(/^Token/).fill("not-a-token-of-this-deployment");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByLabel(/^Token/).waitFor();
    expect(await page.getByText("New run").count()).toBe(0);
  });
});

describe("untrusted text", () => {
  const EVIL = "<img src=x onerror=\"document.title='owned'\"> \u202egnp.exe\u001b[2J";

  test("in a goal, a file name and a log is shown and does nothing", async () => {
    const page = await pageOf(ANN);
    const print = `printf '%b' '<script>document.title="owned"</script>\\033]0;owned\\007 \\342\\200\\256 end\\n'`;
    const file = `printf '<b>bold</b>\\n' > '<b>x.txt'`;
    await submit(page, { goal: EVIL, commands: [FIX, print, file].join("\n") });
    await untilStatus(page, "succeeded");
    await page.locator(".diff").first().waitFor();
    await page.getByRole("tab", { name: "evidence" }).click();
    await page.locator("details summary").first().waitFor(); // the evidence is read when its tab opens
    for (const path of await page.locator("details summary").all()) await path.click();
    await page.getByText("\\x1b]0;owned").first().waitFor();
    expect(await page.title()).toMatch(/^(\(\d+\) )?Antiphon$/);
    expect(await page.locator("h1.goal").innerText()).toContain("\\u202e");
    expect(await page.locator("main img, main script, main b").count()).toBe(0);
  });
});

describe("the page itself", () => {
  test("has nothing that axe reports on the form of a brief, on a phone of 360 px and on a desk", async () => {
    for (const width of [360, 1280]) {
      const page = await pageOf(ANN, { width, height: 740 });
      await page.getByText("New run").click();
      await page.locator("select:has(option[value=brief])").selectOption("brief");
      await page.evaluate(AXE);
      const found = await page.evaluate(
        "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`))",
      );
      expect(found, `${width} px`).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    }
  });

  test("loads nothing from elsewhere, and at most 150 kB before a run is opened", async () => {
    const page = await world.windows.blank();
    const bytes: number[] = [];
    page.on("response", (response) => {
      if (!response.url().startsWith(world.stack.ready.gateway))
        world.windows.complaints.push(response.url());
      const length = response.headers()["content-length"];
      if (/\/(page\/.*)?$/.test(new URL(response.url()).pathname)) bytes.push(Number(length));
    });
    await page.goto(world.stack.ready.gateway);
    await page.getByLabel(/^Token/).waitFor();
    expect(bytes.length).toBeGreaterThanOrEqual(3);
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(150_000);
  });

  test("has nothing that axe reports, in light and dark", async () => {
    const page = await pageOf(ANN);
    await submit(page, { approvals: 1 });
    await untilStatus(page, "waiting for you");
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(AXE);
      const found = await page.evaluate(
        "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`))",
      );
      expect(found, colorScheme).toEqual([]);
    }
  });
});
