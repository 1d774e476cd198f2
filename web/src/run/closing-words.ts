// Why a run ended without success, where its tasks do not say it already: a cancellation with who asked for it, or a time budget. Pure.
import type { RunViewModel } from "@antiphon/contracts";
import type { RunFacts } from "@antiphon/run/facts/run-facts";

export function closingWords({ closed }: Pick<RunFacts, "closed">, { steps }: RunViewModel): string | null {
  if (closed === null || closed.code === null || closed.message === "") return null;
  const isSaid = steps.some(({ message }) => {
    const [first = ""] = (message ?? "").split("\n");
    return first !== "" && closed.message.includes(first);
  });
  return isSaid ? null : closed.message;
}
