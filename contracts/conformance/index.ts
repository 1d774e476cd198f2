/** All statements of all seeds, and the page that lists them. */
import { cell, page, table } from "../src/reference/markdown.ts";
import { seed000 } from "./seed-000.ts";
import { seed001 } from "./seed-001.ts";
import { seed002 } from "./seed-002.ts";
import { seed003 } from "./seed-003.ts";
import { seed004 } from "./seed-004.ts";
import { titleOf, type Statement } from "./statement.ts";

export const STATEMENTS: readonly Statement[] = [...seed000, ...seed001, ...seed002, ...seed003, ...seed004];

const SEEDS: Readonly<Record<string, string>> = {
  "000": "Director <-> Associate Contracts (v0)",
  "001": "Ralph-in-Ralph Protocol (v1)",
  "002": "RFC 000 Contracts",
  "003": "Router Contract Format",
  "004": "Contracts (v1.3)",
};

/** What somebody who knows the seeds would not expect. */
const DEPARTURES = [
  "000-44 to 000-46, the network by default: a DirectorTask that names no `egress_profile` has `git+pkg` where its run says nothing about its network. " +
    "A run that says something (`--egress none`) decides for it, and so does a policy whose `allowedEgress` leaves `git+pkg` out. " +
    "Intents, `plan.yaml`, TaskPlan, Plan.v0 and the tasks that an agent plans have no network by default " +
    "([ADR 0017](../adr/0017-network-of-director-tasks.md)).",
];

export function conformancePage(): string {
  return page([
    "# Seed conformance",
    `One row per statement of the seed documents that can be checked: ${STATEMENTS.length} statements, each shown by a test. ` +
      "Run them: `npx vitest run --project unit contracts/conformance`.",
    "## Departures",
    "Where a statement is kept and a decision of ours narrows what it leads to:",
    ...DEPARTURES.map((text) => `- ${text}`),
    ...Object.entries(SEEDS).flatMap(([seed, title]) => [
      `## Seed ${seed}: ${cell(title)}`,
      table(
        ["Statement", "Section", "Says", "Shown by"],
        STATEMENTS.filter(({ id }) => id.startsWith(seed)).map((statement) => [
          statement.id,
          cell(statement.section),
          cell(statement.says),
          shownBy(statement),
        ]),
      ),
    ]),
  ]);
}

function shownBy(statement: Statement): string {
  if ("proof" in statement)
    return `\`contracts/conformance/statements.test.ts\` › ${cell(titleOf(statement))}`;
  return `\`${statement.file}\` › ${cell(statement.title)}`;
}
