// Node keeps the code that it compiled for the next start, 50 ms of a command. It takes what it finds there for its own, so the
// directory belongs to the user; Node's default is one below the machine's temporary directory, where anybody may come first.
import * as nodeModule from "node:module";
import { join } from "node:path";

/** Does nothing where there is no such directory. */
export function keepCompiledCode() {
  const { XDG_CACHE_HOME, HOME } = process.env;
  const caches = XDG_CACHE_HOME || (HOME ? join(HOME, ".cache") : null);
  if (caches !== null) nodeModule.enableCompileCache?.(join(caches, "antiphon/compiled"));
}
