/** Says what content of a repository is not on this machine, with the command that fetches it. */
import type { LinkedContent } from "./linked-content.ts";

const MAX_SENTENCES = 16;
const SHOWN_FILES = 3;
const MAX_PATH_CHARS = 120;

/** At most 16 sentences of at most 512 characters. */
export function absentContent({ submodules, files }: LinkedContent): string[] {
  const gone = submodules.filter(({ store }) => store === null);
  const sentences = gone.slice(0, MAX_SENTENCES - 2).map(({ path, commit }) => {
    const where = shown(path);
    return `submodule ${where} at ${commit.slice(0, 12)}; fetch it with \`git submodule update --init ${where}\``;
  });
  if (gone.length > sentences.length) {
    sentences.push(
      `${gone.length - sentences.length} more submodules; fetch them with \`git submodule update --init\``,
    );
  }
  const pointers = files.filter(({ place }) => place === null);
  if (pointers.length > 0) {
    const named = pointers.slice(0, SHOWN_FILES).map(({ path }) => shown(path));
    const more = pointers.length > named.length ? ` and ${pointers.length - named.length} more` : "";
    sentences.push(`content of Git LFS for ${named.join(", ")}${more}; fetch it with \`git lfs pull\``);
  }
  return sentences;
}

/** A path of the repository, without what could rewrite a terminal. */
function shown(path: string): string {
  const plain = path.replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, "?");
  return plain.length > MAX_PATH_CHARS ? `${plain.slice(0, MAX_PATH_CHARS - 1)}…` : plain;
}
