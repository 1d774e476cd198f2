// Commits, branches and texts in the length in which lines show them. Pure.

export function short(commit: string): string {
  return commit.slice(0, 10);
}

export function branch(ref: string): string {
  return ref.replace(/^refs\/heads\//, "");
}

export function firstLine(text: string): string {
  const line = text.trim().split("\n")[0] ?? "";
  return line.length > 160 ? `${line.slice(0, 157)}...` : line;
}
