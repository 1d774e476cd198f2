// `antiphon explain`: describes contracts and error codes.
import {
  contractList,
  explain as explainContract,
  findContract,
} from "@antiphon/contracts/reference/explain";
import { ERROR_CODES, ERRORS, isErrorCode } from "@antiphon/contracts/errors";
import type { ErrorCode } from "@antiphon/contracts";
import { jsonSchemaOf } from "@antiphon/contracts/registry/json-schema";
import { nearest } from "@antiphon/contracts/validation/problem";
import { Failure } from "../failure.ts";
import { table } from "./table.ts";

export interface Explanation {
  readonly lines: string[];
  readonly json: unknown;
}

export function explain(name: string | null): Explanation {
  if (name === null) return listing();
  const code = name.toUpperCase();
  if (isErrorCode(code)) return errorCode(code);
  if (code.startsWith("ANT_")) {
    const meant = nearest(code, ERROR_CODES);
    const remedy = meant === null ? "`antiphon explain` lists them" : `did you mean ${meant}?`;
    throw new Failure("ANT_CONTRACT_UNKNOWN", `there is no error code ${name}`, { remedy });
  }
  return { lines: explainContract(name).trimEnd().split("\n"), json: jsonSchemaOf(findContract(name)) };
}

function listing(): Explanation {
  const contracts = contractList();
  const lines = [
    "Contracts:",
    ...table(contracts.map(({ id, description }) => [`  ${id}`, description])),
    "",
    "Error codes:",
    ...table(ERROR_CODES.map((code) => [`  ${code}`, ERRORS[code].meaning])),
  ];
  return { lines, json: { contracts, errors: ERROR_CODES } };
}

function errorCode(code: ErrorCode): Explanation {
  const entry = ERRORS[code];
  const lines = [
    `${code}: ${entry.meaning}`,
    `remedy: ${entry.remedy}`,
    `disposition ${entry.disposition}, HTTP ${entry.httpStatus}, exit code ${entry.exitCode}`,
  ];
  return { lines, json: entry };
}
