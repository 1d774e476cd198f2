/**
 * The value of `work`, or what `late` returns or throws if the work takes longer than `ms`.
 *
 * The work itself goes on. Its failure after the deadline is dropped, because the caller was told that it was late.
 */
export async function withDeadline<T, L>(ms: number, work: Promise<T>, late: () => L): Promise<T | L> {
  const over = Symbol("over");
  let timer: NodeJS.Timeout | undefined;
  const told = new Promise<typeof over>((resolve) => (timer = setTimeout(resolve, ms, over)));
  try {
    const first = await Promise.race([work, told]);
    return first === over ? late() : first;
  } finally {
    clearTimeout(timer);
  }
}
