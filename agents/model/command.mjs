// Runs one program in the work tree. The program, its children and its output are bounded.
import { spawn } from "node:child_process";

const HEAD_CHARS = 8 * 1024;
const TAIL_CHARS = 24 * 1024;
/** After its end, for output that is still on its way. A process that it left behind does not hold the attempt up. */
const OUTPUT_MS = 2000;

/** @returns how it ended, in words, and the beginning and the end of what it printed */
export async function runCommand([program, ...words], cwd, limitMs) {
  const child = spawn(program, words, { cwd, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const shown = new Shown();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (piece) => shown.add(piece));
  let isOver = false;
  const timer = setTimeout(
    () => {
      isOver = true;
      endGroup(child);
    },
    Math.max(1, limitMs),
  );
  const exit = await new Promise((resolve) => {
    child.on("error", (error) => resolve(`it did not start: ${error.message}`));
    child.on("exit", (code, signal) => {
      endGroup(child);
      const patience = setTimeout(
        () => [child.stdout, child.stderr].forEach((one) => one.destroy()),
        OUTPUT_MS,
      );
      child.once("close", () => {
        clearTimeout(patience);
        resolve(code === null ? `ended by ${signal}` : `exit ${code}`);
      });
    });
  });
  clearTimeout(timer);
  return { exit: isOver ? `killed after ${Math.round(limitMs / 1000)} s` : exit, output: shown.text };
}

/** The program and what it started run in a process group of their own. */
function endGroup({ pid }) {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error; // All of it has ended.
  }
}

class Shown {
  #head = "";
  #tail = "";
  #chars = 0;

  add(piece) {
    const room = HEAD_CHARS - this.#head.length;
    this.#chars += piece.length;
    this.#head += piece.slice(0, room);
    this.#tail = (this.#tail + piece.slice(room)).slice(-TAIL_CHARS);
  }

  get text() {
    const left = this.#chars - this.#head.length - this.#tail.length;
    return left > 0 ? `${this.#head}\n(${left} characters left out)\n${this.#tail}` : this.#head + this.#tail;
  }
}
