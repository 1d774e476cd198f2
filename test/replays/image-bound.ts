/** Repositories whose work depends on the image by its nature: the version of a program gets into a file. */
import type { BrokenRepository } from "./repository.ts";

export interface ImageBound extends BrokenRepository {
  readonly language: string;
  /** The step that a replay in another image names, and what its words hold. */
  readonly names: { readonly step: string; readonly what: RegExp };
}

/** @param command writes `file` */
function pins(language: string, file: string, command: string, names: ImageBound["names"]): ImageBound {
  return {
    language,
    name: `pin-${language.toLowerCase()}`,
    goal: `${file} does not name the ${language} that the project is tested with`,
    files: { [file]: "", "README.md": "# Pinned\n\nTested with an old version.\n" },
    check: `test -s ${file}`,
    fix: ["README.md", "an old version", `the version of ${file}`],
    also: { command, writes: file },
    names,
  };
}

export const IMAGE_BOUND: readonly ImageBound[] = [
  // The program's words are a tool's output, and so the next prompt differs.
  pins("Python", "TESTED", "python3 --version | tee TESTED", { step: "model-call", what: /Python 3\.\d+/ }),
  pins("C", "COMPILER", "cc -dumpfullversion | tee COMPILER", { step: "model-call", what: /\d+\.\d\.\d/ }),
  // The Node of the other image warns about the proxy's variable, which is a tool's output too.
  pins("JavaScript", ".nvmrc", "node --print process.version > .nvmrc", {
    step: "model-call",
    what: /\.nvmrc differs/,
  }),
  // Only the file differs.
  pins("Perl", ".perl-version", "perl -e 'print $^V, qq(\\n)' > .perl-version", {
    step: "diff",
    what: /\.perl-version/,
  }),
  pins("shell", "SHELL", "bash -c 'echo $BASH_VERSION' > SHELL", { step: "diff", what: /SHELL/ }),
];
