/**
 * The page in a real browser (Debian's Chromium): sign in, submit, watch, approve, reject, answer; untrusted text that
 * tries to be markup; and what a person with a screen reader meets (axe).
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { startStack, type Stack } from "./support/stack.ts";

const [SHARED, ANN, BEN] = ["deployment-s3cret", "ann-s-own-s3cret", "ben-s-own-s3cret"] as const;
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** A run on a busy machine. */
const PATIENCE_MS = 60_000;

let stack: Stack;
let browser: Browser;
let project: Project;
const pages: Page[] = [];
/** Errors of the page's own scripts and violations of its policy: none is fine. */
const complaints: string[] = [];

beforeAll(async () => {
  stack = await startStack({ env: { ANTIPHON_TOKEN: SHARED, ANTIPHON_TOKENS: `ann:${ANN},ben:${BEN}` } });
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
});
afterAll(async () => {
  await browser.close();
  await stack.stop();
});
beforeEach(() => {
  project = makeProject(BROKEN_CALCULATOR);
});
afterEach(async () => {
  for (const page of pages.splice(0)) await page.close();
  project.remove();
  expect(complaints.splice(0)).toEqual([]);
});

/** A person's own browser window, signed in. */
async function pageOf(token: string, viewport = { width: 1200, height: 900 }): Promise<Page> {
  const page = await browser.newPage({ viewport });
  pages.push(page);
  page.setDefaultTimeout(PATIENCE_MS);
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (/Content Security Policy/.test(message.text())) complaints.push(message.text());
  });
  await page.goto(stack.ready.gateway);
  await page.getByLabel(/^Token/).fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("New run").waitFor();
  return page;
}

interface Asked {
  readonly goal?: string;
  readonly commands?: string;
  readonly approvals?: number;
}

/** Fills the form in and opens the run. */
async function submit(page: Page, { goal = "Fix the broken add", commands = FIX, approvals = 0 }: Asked) {
  await page.getByText("New run").click();
  await page.getByLabel("Goal").fill(goal);
  await page.getByLabel(/^Repository/).fill(project.path);
  await page.getByLabel("Agent").selectOption("scripted");
  await page.getByLabel(/^Commands/).fill(commands);
  await page.getByLabel(/^Checks/).fill(CHECK);
  await page.getByLabel(/^Approvals/).fill(String(approvals));
  await page.getByRole("button", { name: "Start the run" }).click();
  await page.waitForURL(/#\/runs\/run_/);
  return /run_[a-z0-9]+/.exec(page.url())![0];
}

const head = (page: Page) => page.locator(".run-head .status").first();
const untilStatus = (page: Page, words: string) => head(page).getByText(words, { exact: true }).waitFor();

describe("a person with the page", () => {
  test("submits an intent, sees it land, and reads its change, checks and verified signatures", async () => {
    const page = await pageOf(ANN);
    const runId = await submit(page, {});
    await untilStatus(page, "succeeded");
    expect(project.landed(runId)).toHaveLength(1);
    await page.locator(".diff").first().waitFor();
    await page.getByRole("tab", { name: "checks" }).click();
    await page.getByText("exit 0").first().waitFor();
    await page.getByRole("tab", { name: "evidence" }).click();
    await page.getByText("signature verified here").first().waitFor();
    expect(await page.getByText("signature verified here").count()).toBeGreaterThanOrEqual(3);
    await page.getByLabel("Time in this run").fill("1");
    await untilStatus(page, "queued"); // as it was at its first record
  });

  test("approves what another person asked for: it lands then, and not before", async () => {
    const [ann, ben] = [await pageOf(ANN), await pageOf(BEN, { width: 360, height: 740 })];
    const runId = await submit(ann, { approvals: 1 });
    await untilStatus(ann, "waiting for you");
    expect(project.landed(runId)).toEqual([]);
    await ben.getByRole("button", { name: /wait.? for you/ }).click();
    await ben.getByText("Fix the broken add").first().click();
    await ben.getByRole("button", { name: "Approve" }).click();
    await untilStatus(ben, "succeeded");
    await untilStatus(ann, "succeeded");
    expect(project.landed(runId)).toHaveLength(1);
    const width = await ben.evaluate("document.documentElement.scrollWidth");
    expect(width, "a phone of 360 px scrolls down only").toBeLessThanOrEqual(360);
  });

  test("rejects: nothing lands, and the reason is shown", async () => {
    const [ann, ben] = [await pageOf(ANN), await pageOf(BEN)];
    const runId = await submit(ann, { approvals: 1 });
    await untilStatus(ann, "waiting for you");
    await ben.goto(`${stack.ready.gateway}/#/runs/${runId}`);
    await ben.getByLabel(/^Reason/).fill("not in this release");
    await ben.getByRole("button", { name: "Reject" }).click();
    await untilStatus(ann, "failed");
    await ann.getByText("not in this release").first().waitFor();
    expect(project.landed(runId)).toEqual([]);
  });

  test("is refused by name when she approves her own change", async () => {
    const page = await pageOf(ANN);
    const runId = await submit(page, { approvals: 1 });
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("alert").waitFor();
    expect(await page.getByRole("alert").innerText()).toMatch(/ANT_[A-Z_]+/);
    expect(project.landed(runId)).toEqual([]);
  });

  test("with a wrong token sees nothing, and is asked again", async () => {
    const page = await browser.newPage();
    pages.push(page);
    await page.goto(stack.ready.gateway);
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
    expect(await page.title()).toBe("Antiphon");
    expect(await page.locator("h1.goal").innerText()).toContain("\\u202e");
    expect(await page.locator("main img, main script, main b").count()).toBe(0);
  });
});

describe("the page itself", () => {
  test("loads nothing from elsewhere, and at most 150 kB before a run is opened", async () => {
    const page = await browser.newPage();
    pages.push(page);
    const bytes: number[] = [];
    page.on("response", (response) => {
      if (!response.url().startsWith(stack.ready.gateway)) complaints.push(response.url());
      const length = response.headers()["content-length"];
      if (/\/(page\/.*)?$/.test(new URL(response.url()).pathname)) bytes.push(Number(length));
    });
    await page.goto(stack.ready.gateway);
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
