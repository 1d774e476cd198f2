import type { Static } from "typebox";
import { describe, expectTypeOf, test } from "vitest";
import type { DispatchBody } from "../journal/dispatch.ts";
import type { IntentBody } from "../journal/intent.ts";
import type { RoutedBody } from "../journal/routed.ts";
import type { RunOptions } from "../runs/run-options.ts";
import type { DirectorTask } from "../seeds/director-task.ts";
import type { Intent } from "../seeds/intent.ts";
import type { RunViewModel } from "../seeds/run-view-model.ts";
import type { ContractType } from "../registry/registry.ts";

/**
 * A few types are narrower than their schema: defaults are filled in, open objects are narrowed. `tsc` compares them with
 * the schema here: the same keys, and every value of the type fits the schema.
 */
describe("types written beside their schema", () => {
  test("have the schema's keys", () => {
    expectTypeOf<keyof DirectorTask>().toEqualTypeOf<keyof Static<typeof DirectorTask>>();
    expectTypeOf<keyof RunOptions>().toEqualTypeOf<keyof Static<typeof RunOptions>>();
    expectTypeOf<keyof Intent>().toEqualTypeOf<keyof Static<typeof Intent>>();
    expectTypeOf<keyof IntentBody>().toEqualTypeOf<keyof Static<typeof IntentBody>>();
    expectTypeOf<keyof RoutedBody>().toEqualTypeOf<keyof Static<typeof RoutedBody>>();
    expectTypeOf<keyof DispatchBody>().toEqualTypeOf<keyof Static<typeof DispatchBody>>();
    expectTypeOf<keyof RunViewModel>().toEqualTypeOf<keyof Static<typeof RunViewModel>>();
  });

  test("fit the schema", () => {
    expectTypeOf<DirectorTask>().toExtend<Static<typeof DirectorTask>>();
    expectTypeOf<RunOptions>().toExtend<Static<typeof RunOptions>>();
    expectTypeOf<Intent>().toExtend<Static<typeof Intent>>();
    expectTypeOf<IntentBody>().toExtend<Static<typeof IntentBody>>();
    expectTypeOf<RoutedBody>().toExtend<Static<typeof RoutedBody>>();
    expectTypeOf<DispatchBody>().toExtend<Static<typeof DispatchBody>>();
    expectTypeOf<RunViewModel>().toExtend<Static<typeof RunViewModel>>();
  });

  test("are what validate returns", () => {
    expectTypeOf<ContractType<"DirectorTask">>().toEqualTypeOf<DirectorTask>();
    expectTypeOf<ContractType<"journal.dispatch">["body"]>().toEqualTypeOf<DispatchBody>();
    expectTypeOf<ContractType<"Patch">["files"][number]>().toEqualTypeOf<{ path: string; diff: string }>();
  });
});
