/** The page in a real browser: the windows of people and their usual actions. Errors of the page are collected. */
import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { patient } from "../../support/patience.ts";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./project.ts";
import { startQuickStack, type Stack } from "./stack.ts";

export const [SHARED, ANN, BEN] = ["deployment-s3cret", "ann-s-own-s3cret", "ben-s-own-s3cret"] as const;
export const PEOPLE = { ANTIPHON_TOKEN: SHARED, ANTIPHON_TOKENS: `ann:${ANN},ben:${BEN}` } as const;
/** A run on a busy machine. */
const PATIENCE_MS = patient(60_000);

/** The surroundings of a file of page tests; filled before each test. */
export interface PageWorld {
  stack: Stack;
  windows: Windows;
  project: Project;
}

/** A stack with two people and a browser for the file, and a project for each test, whose pages must not complain. */
export function usePages(): PageWorld {
  const world = {} as PageWorld;
  beforeAll(async () => {
    world.stack = await startQuickStack({ env: PEOPLE });
    world.windows = await Windows.open();
  });
  afterAll(async () => {
    await world.windows.close();
    await world.stack.stop();
  });
  beforeEach(() => {
    world.project = makeProject(BROKEN_CALCULATOR);
  });
  afterEach(async () => {
    const complaints = await world.windows.closeAll();
    world.project.remove();
    expect(complaints).toEqual([]);
  });
  return world;
}

export class Windows {
  readonly #browser: Browser;
  readonly #pages: Page[] = [];
  /** Errors of the page's own scripts and violations of its policy: none is fine. */
  readonly complaints: string[] = [];

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async open(): Promise<Windows> {
    return new Windows(
      await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] }),
    );
  }

  async blank(viewport = { width: 1200, height: 900 }): Promise<Page> {
    const page = await this.#browser.newPage({ viewport });
    this.#pages.push(page);
    page.setDefaultTimeout(PATIENCE_MS);
    page.on("pageerror", (error) => this.complaints.push(error.message));
    page.on("console", (message) => {
      if (/Content Security Policy/.test(message.text())) this.complaints.push(message.text());
    });
    return page;
  }

  /** A person's own browser window, signed in. */
  async of(gateway: string, token: string, viewport = { width: 1200, height: 900 }): Promise<Page> {
    const page = await this.blank(viewport);
    await this.signIn(page, gateway, token);
    return page;
  }

  async signIn(page: Page, gateway: string, token: string): Promise<void> {
    await page.goto(gateway);
    await page.getByLabel(/^Token/).fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("New run").waitFor();
  }

  /** Closes them, and returns what the page must never do and did. */
  async closeAll(): Promise<string[]> {
    for (const page of this.#pages.splice(0)) await page.close();
    return this.complaints.splice(0);
  }

  close(): Promise<void> {
    return this.#browser.close();
  }
}

export interface Asked {
  readonly goal?: string;
  readonly commands?: string;
  readonly approvals?: number;
}

/** Fills the form in and opens the run. */
export async function submit(
  page: Page,
  project: Project,
  { goal = "Fix the broken add", commands = FIX, approvals = 0 }: Asked = {},
): Promise<string> {
  await page.getByText("New run").click();
  await page.getByLabel("Goal").fill(goal);
  await page.getByLabel(/^Repository/).fill(project.path);
  await page.getByLabel("Agent").selectOption("scripted");
  await page.getByLabel(/^Commands/).fill(commands);
  await page.getByLabel(/^Checks/).fill(CHECK);
  await page.getByLabel(/^Approvals/).fill(String(approvals));
  await page.getByRole("button", { name: "Start the run" }).click();
  const refusal = page.locator(".action .notice");
  await Promise.race([
    page.waitForURL(/#\/runs\/run_/),
    refusal.waitFor().then(async () => {
      throw new Error(`the page does not start the run: ${await refusal.innerText()}`);
    }),
  ]);
  return /run_[a-z0-9]+/.exec(page.url())![0];
}

export const untilStatus = (page: Page, words: string): Promise<void> =>
  page.locator(".run-head .status").first().getByText(words, { exact: true }).waitFor();
