/** The reference page of what each principal may do on NATS. */
import { JOURNAL_PARTITIONS } from "../topology/subjects.ts";
import { PRINCIPALS } from "../principals/principals.ts";
import { rightsOf, type Limited } from "../principals/rights.ts";
import { cell, page, table } from "./markdown.ts";

export function rightsPage(): string {
  const limited = PRINCIPALS.filter((principal): principal is Limited => principal !== "admin");
  return page([
    "# NATS rights",
    "What each NATS user may do, with one journal partition; `admin` may do everything. The server refuses everything else. " +
      "Services other than the Director have an account of their own, which imports the subjects below ([guide](../guides/nats-users.md)).",
    ...limited.flatMap((principal) => {
      const { asks, hears, serves } = rightsOf(principal, JOURNAL_PARTITIONS);
      const subjects = [...new Set(asks.map(({ subject }) => subject))].sort();
      return [
        `## ${principal}`,
        table(
          ["May", "Subjects"],
          [
            ["publish, ask", listed(subjects)],
            ["hear", listed(hears)],
            ["serve", listed(serves)],
          ],
        ),
      ];
    }),
  ]);
}

const listed = (subjects: readonly string[]): string =>
  subjects.length === 0 ? "nothing" : subjects.map((subject) => `\`${cell(subject)}\``).join(" ");
