/** `npx tsx test/cheats/main.ts` prints the corpus of cheats and honest changes with the policy's answers, as a table. */
import { answers } from "./answers.ts";
import { GROUNDS } from "./corpus.ts";

let wrong = 0;
for (const ground of GROUNDS) {
  process.stdout.write(
    `\n${ground.ecosystem}: ${ground.name} (${(ground.checks ?? ["discovered"]).join("; ")})\n`,
  );
  for (const { change, expected, answer, why } of await answers(ground)) {
    if (answer !== expected) wrong += 1;
    const mark = answer === expected ? " " : `! expected ${expected}:`;
    process.stdout.write(`  ${mark} ${change.padEnd(44)} ${answer.padEnd(20)} ${why}\n`);
  }
}
process.stdout.write(`\n${wrong} answers differ from the expected ones\n`);
process.exitCode = wrong === 0 ? 0 : 1;
