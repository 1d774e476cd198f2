import { describe, expect, it } from "vitest";
import type { PolicyConfig, PolicyRule } from "@antiphon/contracts";
import { profilesFor } from "./policy-choice.ts";

const profile = (name: string) => ({
  name,
  protectedBranches: [],
  requireTestsBeforePush: false,
  requireApprovalForPush: false,
  allowedWorkItemTransitions: [],
});
const config = (...rules: PolicyRule[]): PolicyConfig => ({
  profiles: { usual: profile("usual"), weak: profile("weak"), strict: profile("strict") },
  defaultProfile: "usual",
  globalLimits: {},
  rules,
});
const held = (rules: PolicyRule[], places: string[], principal = "local"): string[] =>
  profilesFor(config(...rules), places, principal).map(({ key }) => key);

describe("a repository's profile", () => {
  it("is selected by the first rule that matches, or is the default one", () => {
    expect(held([], ["/srv/app"])).toEqual(["usual"]);
    const rules = [
      { repo: "/srv/app", profile: "strict" },
      { repo: "/srv", profile: "weak" },
    ];
    expect(held(rules, ["/srv/app"])).toEqual(["strict"]);
    expect(held(rules, ["/srv/other"])).toEqual(["weak"]);
    expect(held(rules, ["/srv2/app"])).toEqual(["usual"]);
  });

  it("applies to everything below a path or a pattern", () => {
    expect(held([{ repo: "/srv/*", profile: "strict" }], ["/srv/app/vendor/lib"])).toEqual(["strict"]);
    expect(held([{ repo: "/srv/app/", profile: "strict" }], ["/srv/app"])).toEqual(["strict"]);
    expect(held([{ repo: "/", profile: "strict" }], ["/anything"])).toEqual(["strict"]);
  });

  it("is selected by the URL of a remote repository, in every spelling of it", () => {
    const rules = [{ repo: "https://Git.example.com/acme/app.git", profile: "strict" }];
    for (const place of ["https://git.example.com/acme/app.git", "https://git.example.com/acme/app"])
      expect(held(rules, [place])).toEqual(["strict"]);
    expect(held(rules, ["https://git.example.com/acme/app2"])).toEqual(["usual"]);
    expect(held(rules, ["/git.example.com/acme/app"])).toEqual(["usual"]);
    const below = (repo: string): string[] =>
      held([{ repo, profile: "strict" }], ["https://git.example.com/acme/app.git"]);
    for (const repo of ["https://git.example.com", "https://git.example.com/acme/", "https://*/acme/*", "/"])
      expect(below(repo), repo).toEqual(["strict"]);
    for (const repo of [
      "https://git.example.com/other",
      "ssh://git.example.com",
      "/srv",
      "https://git.example.com/ac",
    ])
      expect(below(repo), repo).toEqual(["usual"]);
  });

  it("is also the one of a URL in another case, beside the one of the URL as it is written", () => {
    const rules = [
      { repo: "https://git.example.com/acme/app", profile: "strict" },
      { repo: "https://git.example.com/**", profile: "weak" },
    ];
    expect(held(rules, ["https://git.example.com/ACME/App"])).toEqual(["weak", "strict"]);
    expect(held(rules, ["https://git.example.com/acme/app"])).toEqual(["strict"]);
    expect(held([{ name: "app", profile: "strict" }], ["https://git.example.com/acme/APP.git"])).toEqual([
      "usual",
      "strict",
    ]);
    expect(held([{ repo: "/srv/app", profile: "strict" }], ["/srv/APP"])).toEqual(["usual"]);
  });

  it("is also the one of the directory that a URL names", () => {
    const rules = [{ repo: "/srv/app", profile: "strict" }];
    expect(held(rules, ["file:///srv/app"])).toEqual(["usual", "strict"]);
  });

  it("is selected by directory name and principal, all conditions of a rule together", () => {
    const rules = [{ name: "app-*", principal: "token", profile: "strict" }];
    expect(held(rules, ["/x/app-1"], "token")).toEqual(["strict"]);
    expect(held(rules, ["/x/app-1.git"], "token")).toEqual(["strict"]);
    expect(held(rules, ["/x/app-1"], "local")).toEqual(["usual"]);
    expect(held(rules, ["/x/web"], "token")).toEqual(["usual"]);
  });

  it("is the profile of each of its places: a work tree elsewhere keeps the profile of its branches", () => {
    const rules = [{ repo: "/tmp", profile: "weak" }];
    expect(held(rules, ["/tmp/scratch", "/srv/app"])).toEqual(["weak", "usual"]);
    expect(held(rules, ["/tmp/scratch", "/tmp/app"])).toEqual(["weak"]);
  });
});
