import { runService } from "@antiphon/runtime";
import { readDirectorConfig } from "./config.ts";
import { startDirector } from "./wiring.ts";

/** Runs the Director until it is told to stop. */
export async function main(): Promise<void> {
  await runService({
    name: "director",
    description: "Dispatches tasks, verifies what comes back in a clean room, lands it in git once",
    makesTrust: true,
    start: (context) => startDirector(context, readDirectorConfig()),
  });
}
