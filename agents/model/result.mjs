// What the model gives: the input of a tool, and the final result as the input of `finish`.

/** Its description of itself, as of a tool. */
export const FINISH = {
  description: "Ends the task. Call it once, when the work is done or cannot be done.",
  parameters: {
    type: "object",
    properties: {
      outcome: {
        enum: ["done", "question", "failed"],
        description: "question: a person has to decide before you can go on.",
      },
      summary: { type: "string", description: "What you changed and why; or why it cannot be done." },
      question: { type: "string", description: "With the outcome `question`." },
      choices: { type: "array", items: { type: "string" }, description: "Its possible answers, if known." },
    },
    required: ["outcome", "summary"],
    additionalProperties: false,
  },
};

const IS = {
  string: (value) => typeof value === "string",
  integer: (value) => Number.isInteger(value) && value >= 1,
  array: (value) => Array.isArray(value) && value.every((one) => typeof one === "string"),
};

/** What is wrong with the input of a tool; null: nothing. Fields that nobody asked for say nothing and are passed over. */
export function faultIn({ properties, required }, input) {
  if (typeof input !== "object" || input === null || Array.isArray(input))
    return "its input is no JSON object";
  const missing = required.find((name) => input[name] === undefined);
  if (missing !== undefined) return `${missing} is missing`;
  for (const [name, value] of Object.entries(input)) {
    if (!Object.hasOwn(properties, name)) continue;
    const wanted = properties[name];
    const fits = wanted.enum === undefined ? IS[wanted.type](value) : wanted.enum.includes(value);
    if (!fits) return `${name} is not ${wanted.enum?.join(", ") ?? `of the type ${wanted.type}`}`;
  }
  return null;
}

/** @returns the final result, or `{fault}` for the model to correct */
export function finalResult(input) {
  const fault = faultIn(FINISH.parameters, input);
  if (fault !== null) return { fault };
  const { outcome, summary, question = "", choices } = input;
  if (outcome !== "question") return { outcome, summary };
  if (question.trim() === "") return { fault: "question is missing" };
  return { outcome, summary, question, ...(choices === undefined ? {} : { choices }) };
}
