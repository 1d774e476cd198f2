/** The text of launcher.pl. A checkout reads the file beside this one; a bundle carries it (scripts/build.mjs). */
import { readFileSync } from "node:fs";

declare const __ANTIPHON_LAUNCHER__: string | undefined;

export function launcherProgram(): string {
  if (typeof __ANTIPHON_LAUNCHER__ !== "undefined") return __ANTIPHON_LAUNCHER__;
  return readFileSync(new URL("launcher.pl", import.meta.url), "utf8");
}
