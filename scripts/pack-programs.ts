/**
 * The programs that finish the installation of an agent pack, as constants of the contracts: contracts/src/runs/pack-programs.ts.
 * Their sources (contracts/pack-programs) are files, so that they are formatted and checked. The text of a program is part
 * of what makes two installations the same, so it is fixed here and not when a service is built; lines of comments are left out.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "prettier";

export const PACK_PROGRAMS = "contracts/src/runs/pack-programs.ts";

const FOLDER = "contracts/pack-programs";
const PROGRAMS = { OWN_LIBC: "own-libc.mjs", LAUNCHERS: "launchers.mjs", OWN_PYTHON: "own-python.py" };

const HEADER = `/**
 * The programs that finish the installation of an agent pack. Written by \`npm run generate\` from ${FOLDER}, where each has a header.
 * Constants: their text is part of what makes two installations the same. Pure.
 */
`;

export async function packPrograms(root: string): Promise<string> {
  const constants = Object.entries(PROGRAMS).map(([name, file]) => {
    const lines = linesOf(readFileSync(join(root, FOLDER, file), "utf8"));
    return `\nexport const ${name} = [\n${lines.map((line) => JSON.stringify(line)).join(",\n")},\n].join("\\n");\n`;
  });
  return format(HEADER + constants.join(""), { parser: "typescript", printWidth: 110 });
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "" && !/^\s*(?:\/\/|# )/.test(line));
}
