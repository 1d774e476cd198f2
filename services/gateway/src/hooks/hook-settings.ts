// Reads ANTIPHON_HOOKS: `name:secret`, comma separated. Pure. Messages never repeat an entry, because it holds a secret.
import { AntiphonError, limits } from "@antiphon/contracts";

export interface Hook {
  readonly name: string;
  readonly secret: string;
}

const VARIABLE = "ANTIPHON_HOOKS";

export function hooksOf(text: string, people: readonly unknown[]): Hook[] {
  if (text.trim() === "") return [];
  if (people.length === 0)
    throw invalid("it requires ANTIPHON_TOKENS, because a hook passes on decisions of people");
  const hooks = text.split(",").map((entry, i) => {
    const [name = "", ...rest] = entry.trim().split(":");
    const secret = rest.join(":");
    if (!/^[a-z0-9][a-z0-9_-]{0,31}$/.test(name) || secret.length < limits.tokenMinChars)
      throw invalid(`entry ${i + 1} is not <name>:<secret> with at least ${limits.tokenMinChars} characters`);
    return { name, secret };
  });
  if (new Set(hooks.map(({ name }) => name)).size < hooks.length) throw invalid("a name occurs twice");
  return hooks;
}

function invalid(detail: string): AntiphonError {
  return new AntiphonError("ANT_CONFIG_INVALID", `${VARIABLE}: ${detail}`, { data: { variable: VARIABLE } });
}
