/**
 * Measures the page in Debian's Chromium: what the first load takes, the list of 10,000 runs while it is scrolled from end to
 * end, and a run of 20,000 records while it is read, scrolled and moved through time. Frames are those of
 * `requestAnimationFrame`, long tasks those of the browser (50 ms and more).
 *
 * It does not measure a slow network, a phone, or a run that is written at the same time.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { chromium, type Page } from "playwright-core";
import {
  closedRecord,
  dispatchRecord,
  intentRecord,
  routedRecord,
} from "@antiphon/contracts/testing/records";
import { openWorld, type World } from "../integration/gateway/gateway-world.ts";

const RUNS = 10_000;
/** Runs that the page reads at once. */
const PAGE = 1_000;
/** Of a run, unless `records=<number>` asks for another one. */
const RECORDS = 20_000;
const AT_ONCE = 256;
const SCROLL_MS = 5_000;
const BUILD: string = new URL("../../web/build.mjs", import.meta.url).href;

/** Watches frames and long tasks from now on; \`window.measured()\` returns what was seen and begins anew. */
const WATCH = `(() => {
  let frames = [], tasks = [], last = null;
  new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: "longtask" });
  const frame = (now) => { if (last !== null) frames.push(now - last); last = now; requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
  window.measured = () => { const seen = { frames, tasks }; frames = []; tasks = []; return seen; };
})()`;

/** Scrolls an element, or the window, from its top to its end in equal steps, a step for each frame. */
const scroll = (selector: string | null): string => `new Promise((done) => {
  const at = ${selector === null ? "document.scrollingElement" : `document.querySelector(${JSON.stringify(selector)})`};
  const began = performance.now();
  const step = (now) => {
    const part = Math.min(1, (now - began) / ${SCROLL_MS});
    at.scrollTop = part * (at.scrollHeight - at.clientHeight);
    if (part < 1) requestAnimationFrame(step); else done(at.scrollHeight);
  };
  requestAnimationFrame(step);
})`;

interface Seen {
  readonly frames: readonly number[];
  readonly tasks: readonly number[];
}

function row(label: string, ms: number | null, { frames, tasks }: Seen): void {
  const sorted = [...frames].sort((a, b) => a - b);
  const at = (part: number): string => (sorted[Math.floor(part * (sorted.length - 1))] ?? 0).toFixed(0);
  const long = tasks.length === 0 ? "none" : `${tasks.length}, longest ${Math.max(...tasks).toFixed(0)}`;
  const took = ms === null ? "" : ms.toFixed(0);
  console.log(
    `${label.padEnd(48)}${took.padStart(8)}   ${at(0.5)} / ${at(0.95)} / ${at(1)}`.padEnd(82),
    long,
  );
}

async function many(count: number, one: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await one(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

export async function run(parts: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-page-"));
  const page = (await import(BUILD)) as { bundlePage: (by: typeof build, to: string) => Promise<unknown> };
  await page.bundlePage(build, folder);
  const world = await openWorld({ page: folder });
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  try {
    const size = (name: string): number => gzipSync(readFileSync(join(folder, name))).length;
    const first = ["index.html", "main.js", "main.css"].reduce((sum, name) => sum + size(name), 0);
    const all = readdirSync(folder).reduce((sum, name) => sum + size(name), 0);
    console.log(`files of the page, gzipped: entry ${first} bytes, all of them with the lazy ones ${all}`);
    console.log(
      `${"".padEnd(48)}${"ms".padStart(8)}   frames, ms: median / p95 / most`.padEnd(82),
      "long tasks, ms",
    );
    const tab = await browser.newPage({ viewport: { width: 1200, height: 900 } });
    await tab.addInitScript(WATCH);
    if (parts.length === 0 || parts.includes("runs")) await listOfRuns(world, tab);
    const records = Number(parts.find((part) => part.startsWith("records="))?.slice(8) ?? RECORDS);
    if (parts.length === 0 || parts.some((part) => part.startsWith("records")))
      await longRun(world, tab, records);
  } finally {
    await browser.close();
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const measured = (page: Page): Promise<Seen> => page.evaluate<Seen>("window.measured()");

async function timed(page: Page, label: string, work: () => Promise<unknown>): Promise<void> {
  const began = performance.now();
  await work();
  const ms = performance.now() - began;
  row(label, ms, await measured(page));
}

async function listOfRuns(world: World, page: Page): Promise<void> {
  await many(RUNS, async (at) => {
    const runId = `run_${String(at).padStart(8, "0")}`;
    await world.journal.append(intentRecord(runId, `Goal number ${at}`));
    if (at % 5 !== 0) await world.journal.append(closedRecord(runId));
  });
  page.setDefaultTimeout(120_000);
  await page.goto(world.url);
  await page.locator(".runs li").first().waitFor();
  await measured(page);
  await timed(page, "the page again, until the newest runs are shown", async () => {
    await page.reload();
    await page.locator(".runs li").first().waitFor();
  });
  const older = page.getByRole("button", { name: "Older runs" });
  await timed(page, "the nine older pages, one after the other", async () => {
    for (let at = 1; at < RUNS / PAGE; at += 1) await older.click(); // It waits until the button takes a press again.
    await older.waitFor({ state: "detached" });
  });
  await timed(page, "10,000 runs, scrolled from end to end in 5 s", () => page.evaluate(scroll(null)));
  await timed(page, "10,000 runs, filtered by words", async () => {
    await page.getByLabel("Search").fill("number 77");
    await page.getByText("Goal number 7799").first().waitFor();
  });
}

async function longRun(world: World, page: Page, records: number): Promise<void> {
  await world.stopDirector(); // It would look at the run after each of its records.
  const runId = "run_long";
  await world.journal.append(intentRecord(runId, "A long run"));
  await world.journal.append(routedRecord(runId));
  await many(records - 2, (at) => world.journal.append(dispatchRecord(runId, "T-001", at + 1)));
  console.error(`  ${records} records are stored`);
  page.setDefaultTimeout(60_000);
  await page.goto("about:blank");
  await page.goto(`${world.url}/#/runs/${runId}`);
  await timed(page, `${records} records, until all of them are shown`, () =>
    page.getByText(`${records} of ${records}`).waitFor(),
  );
  await page.getByRole("tab", { name: "records" }).click();
  await measured(page);
  await timed(page, `${records} records, scrolled from end to end in 5 s`, () =>
    page.evaluate(scroll(".records .scroll")),
  );
  await timed(page, "ten places of the time slider", async () => {
    for (let at = 1; at <= 10; at += 1) {
      await page
        .getByLabel("Time in this run")
        .fill(String((at * records) / 11 - (((at * records) / 11) % 1)));
      await page.getByText(`${Math.floor((at * records) / 11)} of ${records}`).waitFor();
    }
  });
}
