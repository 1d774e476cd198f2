/** The contracts of journal records, one per type: `journal.dispatch` is `journal.dispatch.v1`. */
import { JOURNAL_TYPES, journalRecordOf, type JournalType } from "../journal/record.ts";
import {
  closedRecordRules,
  dispatchRecordRules,
  intentRecordRules,
  journalRules,
  resultRecordRules,
  routedRecordRules,
} from "../rules/own.ts";
import type { Rule } from "../shapes/rule.ts";
import { contract, type Contract } from "./contract.ts";

export type JournalName = `journal.${JournalType}`;

const RULES: { readonly [T in JournalType]?: readonly Rule[] } = {
  intent: intentRecordRules,
  routed: routedRecordRules,
  dispatch: dispatchRecordRules,
  result: resultRecordRules,
  closed: closedRecordRules,
};

export const JOURNAL_CONTRACTS = Object.fromEntries(
  JOURNAL_TYPES.map((type) => [
    `journal.${type}`,
    contract(`journal.${type}.v1`, "antiphon", journalRecordOf(type), RULES[type] ?? journalRules),
  ]),
) as { [N in JournalName]: Contract };
