/** Subjects and filters: `*` is one token, a last `>` is one or more. */
export type Matches = (subject: string) => boolean;

const compiled = new Map<string, Matches>();

/** Compiled once per filter, because a simulation uses few filters and many subjects. */
export function matcher(filter: string): Matches {
  let matches = compiled.get(filter);
  if (matches === undefined) {
    matches = compile(filter);
    if (compiled.size > 20_000) compiled.clear();
    compiled.set(filter, matches);
  }
  return matches;
}

function compile(filter: string): Matches {
  const tokens = filter.split(".");
  const wild = tokens.findIndex((token) => token === "*" || token === ">");
  if (wild < 0) return (subject) => subject === filter;
  const prefix = tokens
    .slice(0, wild)
    .map((token) => `${token}.`)
    .join("");
  if (wild === tokens.length - 1 && tokens[wild] === ">") {
    return (subject) => subject.length > prefix.length && subject.startsWith(prefix);
  }
  const open = tokens.at(-1) === ">";
  const rest = open ? tokens.slice(0, -1) : tokens;
  return (subject) => {
    if (!subject.startsWith(prefix)) return false;
    const parts = subject.split(".");
    if (open ? parts.length <= rest.length : parts.length !== rest.length) return false;
    for (let i = wild; i < rest.length; i += 1) {
      if (rest[i] !== "*" && rest[i] !== parts[i]) return false;
    }
    return true;
  };
}

export function isWild(filter: string): boolean {
  return filter.includes("*") || filter.endsWith(">");
}
