import { describe, expect, it } from "vitest";
import { colours, cutTo, rendered, widthOf } from "./colours.ts";
import { failureLines } from "./failure-lines.ts";
import { printList } from "./list.ts";
import { openScreen, type Screen } from "./screen.ts";
import { bytes, duration, table } from "./table.ts";
import type { Stream } from "./terminal.ts";

interface Opened {
  readonly screen: Screen;
  readonly stdout: string[];
  readonly stderr: string[];
}

function open(isTTY: boolean, wish: boolean | null = null, columns = 20): Opened {
  const stdout: string[] = [];
  const stderr: string[] = [];
  const into = (texts: string[]): Stream => ({
    isTTY,
    columns,
    write: (text: string | Uint8Array) => texts.push(Buffer.from(text).toString()) > 0,
  });
  return { screen: openScreen(wish, { stdout: into(stdout), stderr: into(stderr) }), stdout, stderr };
}

const HOSTILE = "a\u001b[32m\u009b2J\r\n\u202eb";
const VISIBLE = "a\\x1b[32m\\x9b2J\\r\\n\\u202eb";

describe("a line", () => {
  it.each([true, false])("shows text from outside as visible text, terminal: %s (cli/C5)", (isTTY) => {
    const { screen, stdout, stderr } = open(isTTY);
    screen.out(HOSTILE);
    screen.err(HOSTILE);
    expect([stdout, stderr]).toEqual([[`${VISIBLE}\n`], [`${VISIBLE}\n`]]);
  });

  it("has our own colours on a terminal, also around text from outside", () => {
    const { screen, stdout } = open(true);
    screen.out(`${screen.colours.red("x")} ${screen.colours.dim(HOSTILE)}`);
    expect(stdout).toEqual([`\u001b[31mx\u001b[39m \u001b[2m${VISIBLE}\u001b[22m\n`]);
  });

  it.each([
    [false, null],
    [true, false],
  ])("has no colours, terminal: %s, wish: %s", (isTTY, wish) => {
    const { screen, stdout } = open(isTTY, wish);
    screen.out(screen.colours.bold("x"));
    expect(stdout).toEqual(["x\n"]);
  });

  it("has colours in a pipe if they are wished for", () => {
    const { screen, stdout } = open(false, true);
    screen.out(screen.colours.green("x"));
    expect(stdout).toEqual(["\u001b[32mx\u001b[39m\n"]);
  });
});

describe("a list", () => {
  it("fits the terminal, and is whole in a pipe", () => {
    const rows = [["run_1", "a goal of many words"]];
    const terminal = open(true, false, 14);
    printList(terminal.screen, ["RUN", "INTENT"], rows, [null, 4]);
    expect(terminal.stdout).toEqual(["RUN    INTENT\n", "run_1  a goal…\n"]);
    const pipe = open(false, false, 14);
    printList(pipe.screen, ["RUN", "INTENT"], rows, [null, 4]);
    expect(pipe.stdout).toEqual(["RUN    INTENT\n", "run_1  a goal of many words\n"]);
  });
});

describe("a document", () => {
  it("is unchanged in a pipe, byte for byte", () => {
    const stdout: (string | Uint8Array)[] = [];
    const stream: Stream = {
      isTTY: false,
      columns: 80,
      write: (part: string | Uint8Array) => stdout.push(part) > 0,
    };
    const content = Uint8Array.from([0xff, 0x1b, 0x0d, 0x0a]);
    openScreen(null, { stdout: stream, stderr: stream }).document(content);
    expect(stdout).toEqual([content]);
  });

  it("is visible text on a terminal, line by line", () => {
    const { screen, stdout } = open(true);
    screen.document(new TextEncoder().encode("a\u001b\r\nb\n"));
    expect(stdout).toEqual(["a\\x1b\n", "b\n"]);
  });
});

it("JSON is the same value with every harmful character escaped", () => {
  const { screen, stdout } = open(true);
  screen.json({ HOSTILE });
  expect(stdout.join("")).toMatch(/^[\x20-\x7e]+\n$/);
  expect(JSON.parse(stdout.join(""))).toEqual({ HOSTILE });
});

describe("a failure", () => {
  it("quotes further lines of its message behind a bar, so that they cannot pass for a remedy", () => {
    const lines = failureLines({
      code: "ANT_X",
      message: "git said:\nremedy: run this\n",
      remedy: "really\nerror ANT_Y: z",
    });
    expect(lines.map((line) => rendered(line, false))).toEqual([
      "error ANT_X: git said:",
      "  │ remedy: run this",
      "remedy: really",
      "  │ error ANT_Y: z",
    ]);
  });

  it("cannot begin another line with its code", () => {
    const { screen, stderr } = open(false);
    screen.failure({ code: "ANT_X\nerror ANT_Y", message: "m", remedy: "" });
    expect(stderr).toEqual(["error ANT_X\\nerror ANT_Y: m\n"]);
  });
});

describe("the status line", () => {
  it("is visible text, redrawn in place and cut to the terminal's width", () => {
    const { screen, stdout } = open(true);
    screen.status(`${HOSTILE} and so on`);
    screen.out("x");
    screen.status(null);
    const drawn = "a\\x1b[32m\\x9b2J\\r\\…";
    expect(stdout).toEqual([drawn, "\r\u001b[2K", "x\n", drawn, "\r\u001b[2K"]);
  });

  it("counts wide characters twice", () => {
    expect(widthOf("日本e\u0301")).toBe(5);
    expect(cutTo("日本語", 5)).toBe("日本");
  });

  it("is not drawn without a terminal", () => {
    const { screen, stdout } = open(false);
    screen.status("x");
    screen.clear();
    expect(stdout).toEqual([]);
  });
});

describe("printed text", () => {
  it("aligns columns by what is seen of them", () => {
    const rows = table([
      ["a\u001b", "1"],
      [colours.bold("long"), "2"],
      ["a\nb", "3"],
    ]);
    expect(rows.map((row) => rendered(row, false))).toEqual(["a\\x1b  1", "long   2", "a\\nb   3"]);
  });

  it("gives durations and sizes in readable units", () => {
    expect([0, 950, 12_340, 125_000].map(duration)).toEqual(["0 ms", "950 ms", "12.3 s", "2 m 5 s"]);
    expect([12, 2_048, 5 * 1_048_576, 3 * 2 ** 30].map(bytes)).toEqual([
      "12 B",
      "2.0 KiB",
      "5.0 MiB",
      "3.0 GiB",
    ]);
  });
});
