// The tools of a task, by the names in its `allowed_tools`. Files are those of the work tree; a path that leads out of it,
// also over a link, is refused. A tool that fails tells the model why; it does not end the attempt.
import { lstat, mkdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { dirname, relative, resolve, sep } from "node:path";
import { runCommand } from "./command.mjs";

const MAX_FILE_BYTES = 8 * 1024 * 1024;
const SHOWN_CHARS = 48 * 1024;
const COMMAND_S = 300;

const text = (description) => ({ type: "string", description });
const whole = (description) => ({ type: "integer", minimum: 1, description });
const path = text("Relative to the work tree.");

export const TOOLS = {
  read_file: {
    description: "Reads a text file.",
    parameters: fields({ path }, { line: whole("First line."), lines: whole("How many lines.") }),
    async run({ path: name, line = 1, lines }, { root }) {
      const all = (await textIn(await placeOf(root, name), name)).split("\n");
      const part = all.slice(line - 1, lines === undefined ? undefined : line - 1 + lines).join("\n");
      if (part.length <= SHOWN_CHARS) return part;
      const cut = part.slice(0, SHOWN_CHARS);
      return `${cut}\n(cut here, in line ${line + cut.split("\n").length - 1} of ${all.length})`;
    },
  },
  write_file: {
    description: "Writes a text file, and replaces it if it exists.",
    parameters: fields({ path, content: text("The whole content.") }),
    async run({ path: name, content }, { root }) {
      const place = await placeOf(root, name);
      await mkdir(dirname(place), { recursive: true });
      await writeFile(place, content);
      return `${name} has ${Buffer.byteLength(content)} bytes now`;
    },
  },
  edit_file: {
    description: "Replaces a text in a file. The text must occur exactly once.",
    parameters: fields({ path, old: text("As it stands there."), new: text("What replaces it.") }),
    async run({ path: name, old, new: instead }, { root }) {
      if (old === "") throw new Error("the old text is empty; write_file makes a new file");
      const place = await placeOf(root, name);
      const parts = (await textIn(place, name)).split(old);
      if (parts.length !== 2)
        throw new Error(`the old text occurs ${parts.length - 1} times in ${name}, not once`);
      await writeFile(place, parts.join(instead));
      return `${name} is changed`;
    },
  },
  bash: {
    description: "Runs a shell command in the work tree, without a terminal.",
    parameters: fields(
      { command: text("For sh -c.") },
      { seconds: whole(`Its time limit. Default: ${COMMAND_S}.`) },
    ),
    async run({ command, seconds = COMMAND_S }, { root, leftMs }) {
      const { exit, output } = await runCommand(
        ["sh", "-c", command],
        root,
        Math.min(seconds * 1000, leftMs()),
      );
      return `${output}\n(${exit})`;
    },
  },
  git_checkpoint: {
    description: "Commits all changes in the work tree's own repository.",
    parameters: fields({ message: text("The message.") }),
    async run({ message }, { root, leftMs }) {
      await git(["add", "--all"], root, leftMs());
      await git(["commit", "--quiet", "--no-verify", "--message", message], root, leftMs());
      return (await git(["rev-parse", "HEAD"], root, leftMs())).trim();
    },
  },
};

/** The message of the last commit becomes the summary of the proposal. Does nothing without git or a repository. */
export async function leaveSummary(summary, root) {
  const words = ["commit", "--quiet", "--allow-empty", "--no-verify", "--message", summary];
  await runCommand(gitCommand(words), root, 10_000);
}

async function git(words, root, limitMs) {
  const { exit, output } = await runCommand(gitCommand(words), root, limitMs);
  if (exit !== "exit 0") throw new Error(output.trim() === "" ? `git ${words[0]}: ${exit}` : output.trim());
  return output;
}

function gitCommand(words) {
  const own = [
    "user.name=model",
    "user.email=model@localhost",
    "commit.gpgsign=false",
    "core.hooksPath=/dev/null",
  ];
  return ["git", ...own.flatMap((one) => ["-c", one]), ...words];
}

function fields(required, optional = {}) {
  const properties = { ...required, ...optional };
  return { type: "object", properties, required: Object.keys(required), additionalProperties: false };
}

async function textIn(place, name) {
  const { size } = await stat(place);
  if (size > MAX_FILE_BYTES) throw new Error(`${name} has ${size} bytes, more than ${MAX_FILE_BYTES}`);
  const content = await readFile(place, "utf8");
  if (content.includes("\0")) throw new Error(`${name} is no text file`);
  return content;
}

/** The absolute path of a file, whose nearest existing directory is really in the work tree. */
async function placeOf(root, name) {
  const home = await realpath(root);
  const place = resolve(home, name);
  let at = place;
  while (!(await exists(at))) at = dirname(at);
  const way = relative(home, await realpath(at));
  if (way === ".." || way.startsWith(`..${sep}`)) throw new Error(`${name} is outside the work tree`);
  return place;
}

/** True also for a link that leads nowhere. */
async function exists(at) {
  return lstat(at).then(
    () => true,
    (error) => {
      if (error.code === "ENOENT") return false;
      throw error;
    },
  );
}
