// Node keeps the code that it compiled for the next start, 50 ms of a command. It takes what it finds there for its own, so the
// directory belongs to the user; Node's default is one below the machine's temporary directory, where anybody may come first.
import { existsSync } from "node:fs";
import * as nodeModule from "node:module";
import { join } from "node:path";

/** Does nothing where there is no such directory. */
export function keepCompiledCode() {
  const { XDG_CACHE_HOME, HOME } = process.env;
  // A user of the system may have a home that does not exist, and it must not come to be.
  const caches = XDG_CACHE_HOME || (existsSync(HOME ?? "") ? join(HOME, ".cache") : null);
  if (caches !== null) nodeModule.enableCompileCache?.(join(caches, "antiphon/compiled"));
}
