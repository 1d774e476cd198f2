import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { workItemSettings } from "./work-item-settings.ts";

const directory = mkdtempSync(join(tmpdir(), "antiphon-settings-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const token = join(directory, "token");
writeFileSync(token, "0123456789\n");

describe("pull requests after a push", () => {
  const gitea = { ANTIPHON_WORK_ITEMS: "gitea:https://git.example.com", ANTIPHON_WORK_ITEMS_TOKEN: token };

  it("are opened where the deployment says so", () => {
    expect(workItemSettings(gitea)).toMatchObject({ proposes: false });
    expect(workItemSettings({ ...gitea, ANTIPHON_PULL_REQUESTS: "push" })).toMatchObject({ proposes: true });
  });

  it.each([
    ["no server", {}],
    ["a file", { ANTIPHON_WORK_ITEMS: "file:/srv/items" }],
    ["no token", { ANTIPHON_WORK_ITEMS: "gitea:https://git.example.com" }],
  ])("are refused with %s", (_what, env) => {
    expect(() => workItemSettings({ ...env, ANTIPHON_PULL_REQUESTS: "push" })).toThrow(
      expect.objectContaining({ code: "ANT_CONFIG_INVALID" }) as Error,
    );
  });

  it("are refused under another word", () => {
    const env = { ...gitea, ANTIPHON_PULL_REQUESTS: "always" };
    expect(() => workItemSettings(env)).toThrow("ANTIPHON_PULL_REQUESTS is not push");
  });
});
