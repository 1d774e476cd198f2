/** Tells a person who waits for checks which one has ended and how, and which one comes next. Pure. */
const TOLD_CHARS = 120;
/** Of a command that begins with blanks. */
const MOST_READ = 4096;

export function startOf(commands: readonly string[]): string {
  return `running ${told(commands[0] ?? "")}`;
}

/** `exitCode` null: it did not finish. */
export function endOf(commands: readonly string[], index: number, exitCode: number | null): string {
  const how = exitCode === null ? "did not finish" : exitCode === 0 ? "passed" : `exited ${exitCode}`;
  const next = commands[index + 1];
  return `${told(commands[index] ?? "")} ${how}${next === undefined ? "" : `, running ${told(next)}`}`;
}

function told(command: string): string {
  const line = command.slice(0, MOST_READ).trim().replaceAll(/\s+/g, " ");
  return line.length > TOLD_CHARS ? `${line.slice(0, TOLD_CHARS - 1)}…` : line;
}
