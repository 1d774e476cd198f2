/**
 * `antiphon` from the bundle that the first argument names. `bin/antiphon.mjs` looks at each source first whether it has changed;
 * a test file does that once (`builtAntiphon` of program.ts) and not for each of its calls.
 */
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { keepCompiledCode } from "../../bin/compiled-code.mjs";

const [bundle = "", ...argv] = process.argv.slice(2);
const root = fileURLToPath(new URL("../..", import.meta.url));
keepCompiledCode();
const { main } = await import(pathToFileURL(join(bundle, "cli.js")).href);
await main({ argv, root, bundle });
