/** Small repositories with a bug, in several languages that the standard sandbox image runs. */
import { awk } from "./awk.ts";
import { c } from "./c.ts";
import { javascript } from "./javascript.ts";
import { jq } from "./jq.ts";
import { perl } from "./perl.ts";
import { python } from "./python.ts";
import type { Language } from "./repository.ts";
import { shell } from "./shell.ts";
import { typescript } from "./typescript.ts";

export const CORPUS: readonly Language[] = [javascript, python, typescript, perl, shell, awk, c, jq];
