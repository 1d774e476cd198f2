// Entry point of the children of `antiphon dev`: one service, without the command line around it.
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { serveRole } from "./serve-role.ts";
import type { Role } from "./serve-role.ts";

await serveRole(process.argv[2] as Role, dirname(fileURLToPath(import.meta.url)), true);
