import { expect, test } from "vitest";
import { pathFault } from "./repo.ts";

const fault = (code: string) =>
  pathFault("/r", Object.assign(new Error(`${code}: stat '/r'`), { code, syscall: "stat" }));

test.each([
  ["ENOENT", "ANT_REPO_NOT_FOUND", "terminal"],
  ["ENOTDIR", "ANT_REPO_NOT_FOUND", "terminal"],
  ["EACCES", "ANT_REPO_UNREADABLE", "terminal"],
  ["EIO", "ANT_GIT_INTERRUPTED", "retry"],
  ["EMFILE", "ANT_GIT_INTERRUPTED", "retry"],
  ["ESTALE", "ANT_GIT_INTERRUPTED", "retry"],
])("git/G2: a path that answers %s is %s", (code, named, disposition) => {
  expect(fault(code)).toMatchObject({ code: named, disposition });
});
