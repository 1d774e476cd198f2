import { describe, expect, it } from "vitest";
import { hooksOf } from "./hook-settings.ts";

const PEOPLE = [{ name: "ben" }];
const SECRET = "a-secret-of-some-length";

describe("systems that pass on decisions", () => {
  it("are none if none are set, and each has a name and a secret, which may hold a colon", () => {
    expect(hooksOf("", [])).toEqual([]);
    expect(hooksOf(` chat:${SECRET}, mail:${SECRET}:x`, PEOPLE)).toEqual([
      { name: "chat", secret: SECRET },
      { name: "mail", secret: `${SECRET}:x` },
    ]);
  });

  it.each<[string, string, readonly unknown[]]>([
    ["without people", `chat:${SECRET}`, []],
    ["with a short secret", "chat:short", PEOPLE],
    ["with a name that is no path segment", `a/b:${SECRET}`, PEOPLE],
    ["twice under one name", `chat:${SECRET},chat:${SECRET}x`, PEOPLE],
  ])("%s are refused, and no secret is repeated", (_title, text, people) => {
    const refuse = () => hooksOf(text, people);
    expect(refuse).toThrow(expect.objectContaining({ code: "ANT_CONFIG_INVALID" }) as Error);
    expect(refuse).not.toThrow(SECRET);
  });
});
