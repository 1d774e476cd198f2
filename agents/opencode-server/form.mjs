// The second request of a compile: plan and tests, in a form that the model fills in.
const ASK_DONE =
  "Describe what you did: the steps as a graph, and the commands that show that it works. Change nothing more.";
/** Where a plan is all that is wanted, others carry it out, and know of a step only what its id says. */
const ASK_PLANNED =
  "Give your plan for the task: the steps that are to be done, as a graph, and the commands that will show that it works. Change nothing more.";
const STEP_DONE = "Unique; what the step does, in a few words.";
const STEP_PLANNED =
  "Unique; what is to be done, as an instruction that can be followed without anything else.";

const formOf = (idText) => ({
  type: "object",
  properties: {
    plan: {
      type: "object",
      properties: {
        nodes: {
          type: "array",
          items: {
            type: "object",
            properties: {
              id: { type: "string", description: idText },
              kind: { enum: ["compute", "decision", "io", "approval"] },
              deps: { type: "array", items: { type: "string" }, description: "Ids of the steps before." },
            },
            required: ["id", "kind", "deps"],
            additionalProperties: false,
          },
        },
      },
      required: ["nodes"],
      additionalProperties: false,
    },
    tests: { type: "array", items: { type: "string" }, description: "Shell commands." },
  },
  required: ["plan", "tests"],
  additionalProperties: false,
});

/**
 * @param model its name
 * @param isPlanning the task wants a plan and no change
 */
export const formFor = (model, isPlanning) => ({
  model: { providerID: "metered", modelID: model },
  format: { type: "json_schema", schema: formOf(isPlanning ? STEP_PLANNED : STEP_DONE) },
  parts: [{ type: "text", text: isPlanning ? ASK_PLANNED : ASK_DONE }],
});

/** What it filled in. `why`: there is no plan. */
export function formIn({ info }) {
  const { plan = null, tests = [] } = info.structured ?? {};
  return plan === null
    ? { plan, tests, why: info.error?.data?.message ?? "the model filled in no form" }
    : { plan, tests };
}
