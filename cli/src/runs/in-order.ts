/** Sends lines one after the other, in the order in which they came. A line that is refused holds up no later one. */
export function inOrder(
  send: (line: string) => Promise<unknown>,
  refused: (thrown: unknown) => void,
): (line: string) => Promise<void> {
  let before = Promise.resolve();
  return (line) =>
    (before = before
      .then(async () => {
        await send(line);
      })
      .catch(refused));
}
