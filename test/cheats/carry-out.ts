/** `npx tsx test/cheats/carry-out.ts [ecosystem]` carries out the corpus of carried-out.ts and prints the verdicts. */
import { spawnSync } from "node:child_process";
import { CARRIED } from "./carried-out.ts";
import { verdictOn } from "./rooms.ts";
import { tableOf, type Tried } from "./table.ts";

const [only] = process.argv.slice(2);
let [wrong, all] = [0, 0];
const tried: Tried[] = [];
for (const { ecosystem, needs, files, check, workflow, grants, changes } of CARRIED) {
  if (only !== undefined && only !== ecosystem) continue;
  process.stdout.write(`\n${ecosystem}: ${check} (${workflow})\n`);
  if (spawnSync("sh", ["-c", `command -v ${needs}`]).status !== 0) {
    process.stdout.write(`  unavailable: this machine has no ${needs}\n`);
    continue;
  }
  for (const [name, change, expected] of changes) {
    const { code, verdict, message } = await verdictOn({ files, check, change, workflow, grants });
    const answer = code ?? verdict;
    all += 1;
    const what = `${check} (${workflow}): ${name}`;
    // What SECURITY.md calls undecidable is carried out, and counts on neither side.
    if (!name.startsWith("undecided: "))
      tried.push({ ecosystem, name: what, cheat: !name.startsWith("honest: "), refused: answer !== "PASS" });
    if (answer !== expected) wrong += 1;
    const mark = answer === expected ? " " : `! expected ${expected}:`;
    process.stdout.write(`  ${mark} ${name.padEnd(52)} ${answer.padEnd(26)} ${message.slice(0, 140)}\n`);
  }
}
process.stdout.write(`\n${tableOf(tried)}\n${wrong} of ${all} verdicts differ from the expected ones\n`);
process.exitCode = wrong === 0 ? 0 : 1;
