import { describe, expect, test } from "vitest";
import { liesBelow, looksLikeUrl, repositoryUrl } from "./repository-url.ts";

describe("the URL of a repository", () => {
  test.each([
    ["https://Git.Example.com:443/acme//app.git/", "https://git.example.com/acme/app.git", "app"],
    ["ssh://git@git.example.com:22/acme/app", "ssh://git@git.example.com/acme/app", "app"],
    ["git://127.0.0.1:9419/app.git", "git://127.0.0.1:9419/app.git", "app"],
    ["HTTPS://git.example.com/~ada/a+b_c-d", "https://git.example.com/~ada/a+b_c-d", "a+b_c-d"],
    ["file:///srv/git/app", "file:///srv/git/app", "app"],
  ])("%s has one spelling and a name", (text, url, name) => {
    expect(repositoryUrl(text)).toMatchObject({ url, name });
  });

  test.each([
    ["https://ada:secret@git.example.com/app", /user or a password/],
    ["https://token@git.example.com/app", /user or a password/],
    ["ssh://git:secret@git.example.com/app", /user or a password/],
    ["https://git.example.com/app?token=x", /unusual characters/],
    ["https://git.example.com/app#x", /unusual characters/],
    ["https://git.example.com/a%2e%2e/app", /unusual characters/],
    ["https://git.example.com/a/../b", /"\.\."/],
    ["https://git.example.com", /unusual characters, or none/],
    ["https://git.example.com//", /no repository/],
    ["ssh://-oProxyCommand=x/app", /valid host/],
    ["ssh://git.example.com/-x", /"-x"/],
    ["ext::sh -c id", /does not begin/],
    ["file://elsewhere/srv/app", /valid host/],
    ["https:///app", /valid host/],
    [`https://git.example.com/${"a".repeat(2_000)}`, /longer/],
    ["https://git.example.com/a\nb", /unusual characters/],
  ])("%j is refused with its reason, and the reason does not quote it", (text, fault) => {
    const outcome = repositoryUrl(text) as { fault: string };
    expect(outcome.fault).toMatch(fault);
    expect(outcome.fault).not.toContain("secret");
  });

  test("a path is no URL", () => {
    expect(["/srv/app", "./app", "C:/app", "git@host:app"].map(looksLikeUrl)).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(["https://a/b", "ext://x"].map(looksLikeUrl)).toEqual([true, true]);
  });

  test("a prefix is compared part by part", () => {
    const prefix = "https://git.example.com/acme";
    expect(liesBelow("https://git.example.com/acme", prefix)).toBe(true);
    expect(liesBelow("https://git.example.com/acme/app", prefix)).toBe(true);
    expect(liesBelow("https://git.example.com/acme-evil/app", prefix)).toBe(false);
    expect(liesBelow("https://git.example.com.evil/acme/app", prefix)).toBe(false);
  });
});
