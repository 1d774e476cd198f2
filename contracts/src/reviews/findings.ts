/** What a reviewer found, as it writes it: `findings.json`. */
import { Type, type Static } from "typebox";
import { closed, oneOf } from "../shapes/shape.ts";

/** The file that an agent of a REVIEW run writes at the root of its work tree. */
export const FINDINGS_FILE = "findings.json";

export const Severity = oneOf(["error", "warning", "info"], {
  description: "error: wrong; warning: likely to go wrong; info: worth knowing.",
});
export type Severity = Static<typeof Severity>;

export const Finding = closed({
  severity: Severity,
  file: Type.String({ minLength: 1, maxLength: 1024, description: "Path from the root of the repository." }),
  line: Type.Integer({ minimum: 1, description: "Where the quote begins, counted from 1." }),
  quote: Type.String({
    minLength: 1,
    maxLength: 4096,
    description: "The lines in question, word for word. A finding whose quote is not in the file is dropped.",
  }),
  why: Type.String({ minLength: 1, maxLength: 4096, description: "What is wrong and what follows from it." }),
  suggestion: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
});
export type Finding = Static<typeof Finding>;

export const DroppedFinding = closed({
  finding: Finding,
  reason: Type.String({ minLength: 1, description: "Why it does not count." }),
});
export type DroppedFinding = Static<typeof DroppedFinding>;

export const Findings = closed(
  { findings: Type.Array(Finding, { maxItems: 500, description: "Empty: nothing was found." }) },
  { description: "`findings.json`: the findings of a REVIEW run, as its agent writes them." },
);
export type Findings = Static<typeof Findings>;
