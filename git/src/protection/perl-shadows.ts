/** Modules of Perl itself that prove and Test::More load: a file of the same name below `lib/` would come first. Pure. */
import { literalGlob } from "../patch/glob.ts";
import type { CheckTree } from "../reach/check-tree.ts";
import type { Reached } from "../reach/reached-files.ts";
import type { Guard } from "./guard.ts";

const OWN: readonly string[] =
  "AutoLoader B Benchmark Carp Carp/Heavy Config Cwd Data/Dumper DynaLoader Encode Errno Exporter Exporter/Heavy Fcntl File/Basename File/Find File/Path File/Spec File/Temp Getopt/Long IO IO/File IO/Handle IO/Select IPC/Open3 List/Util POSIX PerlIO Scalar/Util SelectSaver Storable Sub/Util Symbol Term/ANSIColor Test Text/ParseWords Time/HiRes XSLoader base builtin bytes constant experimental feature fields if integer lib locale mro overload overloading parent re subs threads threads/shared utf8 vars version warnings/register".split(
    " ",
  );

export function perlShadows(tree: CheckTree, { programs }: Reached): Guard[] {
  if (![...programs].some((program) => /^(prove|perl[0-9.]*)$/.test(program))) return [];
  return OWN.map((name) => ({ name, path: `lib/${name}.pm` }))
    .filter(({ path }) => !tree.has(path))
    .map(({ name, path }): Guard => ({
      rule: "protected.shadow",
      glob: literalGlob(path),
      why: `it would be loaded instead of ${name.replaceAll("/", "::")} of Perl`,
    }));
}
