/** No input of a stranger takes a parser more than linear time: the table is in test/parsers. */
import { describe, expect, it } from "vitest";
import { contractParsers } from "../parsers/contract-parsers.ts";
import { faultsOf } from "../parsers/growth.ts";
import { gitParsers } from "../parsers/git-parsers.ts";
import { serviceParsers } from "../parsers/service-parsers.ts";

const parsers = [...contractParsers, ...gitParsers, ...serviceParsers];

describe("the time of a parser grows no faster than its input", () => {
  it.each(parsers.map((parser) => [parser.name, parser] as const))("%s", async (_, parser) => {
    expect(await faultsOf(parser)).toEqual([]);
  });
});
