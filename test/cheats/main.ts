/** `npx tsx test/cheats/main.ts` prints the corpus of cheats and honest changes with the policy's answers, and a table. */
import { answers, triedIn } from "./answers.ts";
import { GROUNDS } from "./corpus.ts";
import { tableOf, type Tried } from "./table.ts";

let wrong = 0;
const tried: Tried[] = [];
for (const ground of GROUNDS) {
  process.stdout.write(
    `\n${ground.ecosystem}: ${ground.name} (${(ground.checks ?? ["discovered"]).join("; ")})\n`,
  );
  const all = await answers(ground);
  tried.push(...triedIn(ground, all));
  for (const { change, expected, answer, why } of all) {
    if (answer !== expected) wrong += 1;
    const mark = answer === expected ? " " : `! expected ${expected}:`;
    process.stdout.write(`  ${mark} ${change.padEnd(44)} ${answer.padEnd(20)} ${why}\n`);
  }
}
process.stdout.write(`\n${tableOf(tried)}\n${wrong} answers differ from the expected ones\n`);
process.exitCode = wrong === 0 ? 0 : 1;
