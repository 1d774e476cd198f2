/**
 * All contracts by name, each with id (name and version), schema, rules and source. Types, validators, JSON Schema files
 * and reference pages are derived from this table.
 */
import type { Static } from "typebox";
import type { JournalRecordOf, JournalType } from "../journal/record.ts";
import type { RunOptions } from "../runs/run-options.ts";
import type { DirectorTask, EgressProfile, VerifyProfile } from "../seeds/director-task.ts";
import type { Intent } from "../seeds/intent.ts";
import type { RunViewModel } from "../seeds/run-view-model.ts";
import type { Command } from "../seeds/v13-commands.ts";
import type { SessionEvent } from "../seeds/v13-events.ts";
import type { Contract } from "./contract.ts";
import { JOURNAL_CONTRACTS, type JournalName } from "./journal-contracts.ts";
import { OWN_CONTRACTS } from "./own-contracts.ts";
import { SEED_CONTRACTS } from "./seed-contracts.ts";

export type { Contract, Source } from "./contract.ts";

type Named = typeof SEED_CONTRACTS & typeof OWN_CONTRACTS;
type Registry = Named & { [N in JournalName]: Contract };

/** `DirectorTask`, `journal.dispatch`, ... */
export type SchemaName = keyof Registry;

/** Names whose reader fills in defaults, or whose type is narrower than the schema's inferred type. */
type FilledTypes = {
  DirectorTask: DirectorTask;
  EgressProfile: EgressProfile;
  VerifyProfile: VerifyProfile;
  RunOptions: RunOptions;
  Intent: Intent;
  RunViewModel: RunViewModel;
  Command: Command;
  SessionEvent: SessionEvent;
};

type TypeOf<N extends SchemaName> = N extends keyof FilledTypes
  ? FilledTypes[N]
  : N extends `journal.${infer T extends JournalType}`
    ? JournalRecordOf<T>
    : N extends keyof Named
      ? Static<Named[N]["schema"]>
      : never;

type TypesByName = { [N in SchemaName]: TypeOf<N> };

/** An interface, so that tsc looks a name up. With the conditional type itself it would compare all contracts with each other. */
// oxlint-disable-next-line typescript/no-empty-object-type
interface ContractTypes extends TypesByName {}

/** The type of a value that `validate(name, ...)` accepted. */
export type ContractType<N extends SchemaName> = ContractTypes[N];

export const registry: Registry = { ...SEED_CONTRACTS, ...OWN_CONTRACTS, ...JOURNAL_CONTRACTS };

export const SCHEMA_NAMES = Object.keys(registry) as SchemaName[];

const byId = new Map<string, SchemaName>(SCHEMA_NAMES.map((name) => [registry[name].id, name]));

/** The registry name for `DirectorTask` or `DirectorTask.v0`; null if there is none. */
export function schemaNameOf(text: string): SchemaName | null {
  if (Object.hasOwn(registry, text)) return text as SchemaName;
  return byId.get(text) ?? null;
}
