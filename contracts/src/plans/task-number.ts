/** Numbers of tasks in plans, and the ids made of them. Pure. */

const MAX_NUMBER = 1000;

/** 7: `T-007`. */
export function taskIdOf(number: number): string {
  return `T-${String(number).padStart(3, "0")}`;
}

/** `T-007` and `7`: 7. Null: the text is no number of a task. */
export function taskNumberIn(text: string): number | null {
  const number = Number(/^(?:[Tt]-)?(\d{1,4})$/.exec(text)?.[1] ?? Number.NaN);
  return number >= 1 && number <= MAX_NUMBER ? number : null;
}
