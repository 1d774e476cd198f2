/**
 * A request for approval in a session is decided where the person is: on the page, on the command line, over HTTP. What was
 * looked at is bound to the decision, and nobody approves their own work.
 */
import { expect, test } from "vitest";
import { ANN, BEN, usePages } from "./support/browser.ts";

const PATCH = "--- /dev/null\n+++ b/note.txt\n@@ -0,0 +1 @@\n+hello\n";
const MORE = "--- /dev/null\n+++ b/more.txt\n@@ -0,0 +1 @@\n+more\n";

const world = usePages();

interface Told {
  readonly event: string;
  readonly correlation: { readonly commandId?: string };
  readonly payload: { readonly outcome?: string; readonly message?: string; readonly errorCode?: string };
}

/** Ann's session. */
class Session {
  readonly id: string;
  readonly #token: string;
  #count = 0;

  constructor(id: string, token: string) {
    this.id = id;
    this.#token = token;
  }

  get headers(): Record<string, string> {
    return { authorization: `Bearer ${this.#token}` };
  }

  /** Sends a command and returns its id. */
  async send(command: string, payload: object): Promise<string> {
    const commandId = `C-${(this.#count += 1)}`;
    const body = { command, commandId, correlation: { sessionId: this.id }, payload };
    const answer = await world.stack.http("POST", `/sessions/${this.id}/commands`, body, this.headers);
    expect([answer.status, answer.body]).toEqual([202, answer.body]);
    return commandId;
  }

  async endOf(commandId: string): Promise<Told["payload"]> {
    for (;;) {
      const { body } = await world.stack.http("GET", `/sessions/${this.id}/events`, undefined, this.headers);
      const told = (body["events"] as Told[]).filter(
        ({ correlation }) => correlation.commandId === commandId,
      );
      const end = told.find(({ event }) => /^Command(Completed|Rejected)$/.test(event));
      if (end !== undefined) return end.payload;
    }
  }

  async done(command: string, payload: object): Promise<void> {
    const end = await this.endOf(await this.send(command, payload));
    expect(end).toMatchObject({ outcome: "Success" });
  }
}

/** Ann's session with a commit, and her request to have it approved. */
async function asked(): Promise<{ session: Session; request: string; repo: object }> {
  const repo = { name: "app", path: world.project.path };
  const opened = await world.stack.http("POST", "/sessions", { repo }, { authorization: `Bearer ${ANN}` });
  expect(opened.status).toBe(201);
  const session = new Session(String(opened.body["sessionId"]), String(opened.body["token"]));
  await session.done("CreateBranch", { repo, branchName: "topic" });
  await session.done("ApplyPatch", { repo, patchContent: PATCH });
  await session.done("Commit", { repo, message: "Add a note", includePaths: [] });
  const request = await session.send("RequestApproval", {
    reason: "<b>ready</b>",
    requiredActions: ["read the diff"],
  });
  return { session, request, repo };
}

const asBen = { env: { ANTIPHON_TOKEN: BEN } };

test("on the page it is approved by another person, and the session goes on", async () => {
  const { session, request } = await asked();
  const page = await world.windows.of(world.stack.ready.gateway, BEN, { width: 360, height: 740 });
  await page.getByRole("link", { name: "Operations" }).click();
  const line = page.getByRole("listitem").filter({ hasText: session.id });
  await line.getByText("1 waits for approval").waitFor();
  await line.getByRole("link").click();
  await page.getByText("<b>ready</b>. Requested by ann").waitFor();
  await page.getByLabel("Reason").fill("looks right");
  await page.getByRole("button", { name: "Approve" }).click();
  expect(await session.endOf(request)).toMatchObject({
    outcome: "Success",
    message: "approved by ben: looks right",
  });
  await page.getByRole("button", { name: "Approve" }).waitFor({ state: "detached" });
  const width = await page.evaluate("document.documentElement.scrollWidth");
  expect(width, "a phone of 360 px scrolls down only").toBeLessThanOrEqual(360);
});

test("on the page, work that has changed since can only be rejected", async () => {
  const { session, request, repo } = await asked();
  const page = await world.windows.of(world.stack.ready.gateway, BEN);
  await page.goto(`${world.stack.ready.gateway}/#/sessions/${session.id}`);
  await page.getByRole("button", { name: "Approve" }).waitFor();
  await session.done("ApplyPatch", { repo, patchContent: MORE });
  await page.getByText("work or its policy has changed since").waitFor();
  expect(await page.getByRole("button", { name: "Approve" }).isDisabled()).toBe(true);
  await page.getByRole("button", { name: "Reject" }).click();
  expect(await session.endOf(request)).toMatchObject({
    outcome: "Failure",
    errorCode: "ANT_SESSION_REJECTED",
  });
});

test("on the command line it is rejected with a reason, approved by another person, and never by its own", async () => {
  const { session, request } = await asked();
  const own = await world.stack.antiphon(["approve", session.id], { env: { ANTIPHON_TOKEN: ANN } });
  expect([own.code, own.stderr]).toEqual([2, expect.stringContaining("ANT_APPROVAL_OWN")]);
  const rejected = await world.stack.antiphon(["reject", session.id, "--reason", "not yet"], asBen);
  expect([rejected.code, rejected.stdout]).toEqual([0, `${request} of ${session.id} is rejected\n`]);
  expect(await session.endOf(request)).toMatchObject({ message: "rejected by ben: not yet" });
  const none = await world.stack.antiphon(["approve", session.id], asBen);
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("ANT_SESSION_NOT_WAITING")]);

  const again = await session.send("RequestApproval", { reason: "now?", requiredActions: [] });
  const approved = await world.stack.json<{ status: string }>(
    ["approve", session.id, "--request", again],
    asBen,
  );
  expect([approved.code, approved.document.status]).toEqual([0, "open"]);
  expect(await session.endOf(again)).toMatchObject({ outcome: "Success", message: "approved by ben" });
});
