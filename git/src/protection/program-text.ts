/** Files that hold a program, by their endings: a test that names one has it as its object, where it would only read data. Pure. */
import { CODE } from "./added-judges.ts";

const MORE =
  /\.(c|cc|cpp|cxx|h|hh|hpp|m|mm|zig|nim|vb|vue|svelte|coffee|clj[cs]?|erl|hs|ml|jl|r|awk|gawk|jq|sed|tcl)$/i;

export function isProgramText(path: string): boolean {
  return CODE.test(path) || MORE.test(path);
}
