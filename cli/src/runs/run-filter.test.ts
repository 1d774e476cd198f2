import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { filterOf } from "./run-filter.ts";

describe("the repository of a filter", () => {
  let directory = "";
  beforeAll(() => {
    directory = realpathSync(mkdtempSync(join(tmpdir(), "antiphon-filter-")));
    mkdirSync(join(directory, "app/.git"), { recursive: true });
    mkdirSync(join(directory, "app/src"));
    symlinkSync("app", join(directory, "link"));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  it("is the top of its work tree, without links", () => {
    expect(filterOf({ repo: join(directory, "link/src") }).repo).toBe(join(directory, "app"));
  });

  it("may be gone: its runs are still listed", () => {
    expect(filterOf({ repo: join(directory, "gone") }).repo).toBe(join(directory, "gone"));
  });

  it("may be a URL, in the form that runs have it on record", () => {
    const repo = "https://Git.Example.org:443/team/app.git/";
    expect(filterOf({ repo }).repo).toBe("https://git.example.org/team/app.git");
  });

  it("is refused as a URL that no run can have", () => {
    expect(() => filterOf({ repo: "https://ann:secret@git.example.org/app" })).toThrow(
      "the URL of the repository holds a user or a password; the deployment has the credentials",
    );
  });
});
