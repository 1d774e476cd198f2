import { expect, test } from "vitest";
import { submoduleNames } from "./submodule-names.ts";

const listed = (name: string, path: string): string => `submodule.${name}.path\n${path}\0`;

test("each path has the name of its submodule", () => {
  const text = `${listed("lib", "vendor/lib")}submodule.lib.url\nhttps://u:secret@host.test/lib\0${listed("a.b/c", "d")}`;
  expect([...submoduleNames(text)]).toEqual([
    ["vendor/lib", "lib"],
    ["d", "a.b/c"],
  ]);
});

test.each(["..", "../outside", "a/../../b", "/etc", "a//b", ".", "a\\..\\b"])(
  "the name %s, which leads out of the modules, names nothing",
  (name) => {
    expect(submoduleNames(listed(name, "vendor")).size).toBe(0);
  },
);
