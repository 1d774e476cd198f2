// Turns a refusal of git into a coded failure that says in plain words what is wrong with the repository. Pure.
import { Failure } from "../failure.ts";

/** `stderr` is in English: the caller runs git with LC_ALL=C. */
export function gitRefusal(directory: string, stderr: string, cause: Error): Failure {
  if (/not a git repository|must be run in a work tree/i.test(stderr))
    return new Failure("ANT_REPO_NOT_GIT", `${directory} is not in a git repository`, { cause });
  if (/cannot change to '.*': (No such file|Not a directory)/i.test(stderr))
    return new Failure("ANT_REPO_NOT_FOUND", `there is no directory ${directory}`, {
      remedy: "Check --repo; a relative path starts at the directory the command is run in.",
      cause,
    });
  if (/Needed a single revision/i.test(stderr))
    return new Failure("ANT_REPO_NO_COMMITS", `${directory} has no commit yet`, { cause });
  const said = stderr.split("\n").find((line) => line.trim() !== "") ?? cause.message;
  return new Failure("ANT_REPO_UNREADABLE", `${directory}: ${said}`, { cause });
}
