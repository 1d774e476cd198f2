/** Checks a skill's result against its io_schema.json (seed 001). */
import { Ajv2020 } from "ajv/dist/2020.js";
import { AntiphonError } from "../errors.ts";
import { describe } from "./schema-problem.ts";
import type { SkillIoSchema, SkillResult } from "../seeds/skill-result.ts";
import { validate, type Validation } from "./validate.ts";

/** Throws ANT_CONTRACT_INVALID when the io_schema itself is not a JSON Schema. */
export function validateSkillResult(value: unknown, io: SkillIoSchema): Validation<SkillResult> {
  const result = validate("SkillResult", value);
  if (!result.ok) return result;
  if (result.value.skill !== io.skill) {
    const found = result.value.skill;
    return {
      ok: false,
      errors: [{ path: "/skill", message: "another skill's result", expected: io.skill, found }],
    };
  }
  const check = { input: compile(io.input), output: compile(io.output) };
  for (const [i, pair] of result.value.pairs.entries()) {
    for (const side of ["input", "output"] as const) {
      if (check[side](pair[side])) continue;
      const errors = describe(check[side].errors ?? []);
      return {
        ok: false,
        errors: errors.map((error) => ({ ...error, path: `/pairs/${i}/${side}${error.path}` })),
      };
    }
  }
  return result;
}

function compile(schema: Record<string, unknown>) {
  try {
    return new Ajv2020({ strict: false, verbose: true, validateFormats: false }).compile(schema);
  } catch (error) {
    throw new AntiphonError("ANT_CONTRACT_INVALID", `not a JSON Schema: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
