import { expect, test } from "vitest";
import { gitRefusal } from "./git-refusal.ts";

test.each([
  [
    "fatal: not a git repository (or any of the parent directories): .git\n",
    "ANT_REPO_NOT_GIT",
    "/app is not in a git repository",
  ],
  [
    "fatal: cannot change to '/app': No such file or directory\n",
    "ANT_REPO_NOT_FOUND",
    "there is no directory /app",
  ],
  ["fatal: cannot change to '/app': Not a directory\n", "ANT_REPO_NOT_FOUND", "there is no directory /app"],
  ["fatal: Needed a single revision\n", "ANT_REPO_NO_COMMITS", "/app has no commit yet"],
  ["\nerror: bad object\nfatal: more\n", "ANT_REPO_UNREADABLE", "/app: error: bad object"],
  ["", "ANT_REPO_UNREADABLE", "/app: git ended"],
])("%j is %s", (stderr, code, message) => {
  expect(gitRefusal("/app", stderr, new Error("git ended"))).toMatchObject({ code, message, exitCode: 2 });
});
