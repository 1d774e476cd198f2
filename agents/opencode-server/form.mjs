// The second request of a compile: plan and tests, in a form that the model fills in.
const ASK_FORM =
  "Describe what you did: the steps as a graph, and the commands that show that it works. Change nothing more.";

const FORM = {
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
              id: { type: "string", description: "Unique; what the step does, in a few words." },
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
};

/** @param model its name */
export const formFor = (model) => ({
  model: { providerID: "metered", modelID: model },
  format: { type: "json_schema", schema: FORM },
  parts: [{ type: "text", text: ASK_FORM }],
});

/** What it filled in. `why`: there is no plan. */
export function formIn({ info }) {
  const { plan = null, tests = [] } = info.structured ?? {};
  return plan === null
    ? { plan, tests, why: info.error?.data?.message ?? "the model filled in no form" }
    : { plan, tests };
}
