// Reads ANTIPHON_ROLES and ANTIPHON_TENANTS. Pure. A name that has no token is a mistake, and so is a role that does not exist.
import { AntiphonError } from "@antiphon/contracts";
import type { Directory } from "./directory.ts";
import { isRole, ROLES, TENANT, type Role } from "./roles.ts";

type Env = Readonly<Record<string, string | undefined>>;
type Variable = "ANTIPHON_ROLES" | "ANTIPHON_TENANTS";

export function directoryOf(env: Env, people: readonly { readonly name: string }[]): Directory {
  const names = new Set(people.map(({ name }) => name));
  const roles = pairs(env, "ANTIPHON_ROLES", names).map(([name, text]): [string, Role[]] => {
    const held = text.split("+").map((one) => one.trim());
    const unknown = held.find((one) => !isRole(one));
    if (unknown !== undefined)
      throw invalid("ANTIPHON_ROLES", `${JSON.stringify(unknown)} is none of ${ROLES.join(", ")}`);
    return [name, held.filter(isRole)];
  });
  const tenants = pairs(env, "ANTIPHON_TENANTS", names).map(([name, text]): [string, string] => {
    if (!TENANT.test(text))
      throw invalid("ANTIPHON_TENANTS", `${JSON.stringify(text)} is no name of a tenant`);
    return [name, text];
  });
  return { roles: roles.length === 0 ? null : new Map(roles), tenants: new Map(tenants) };
}

function pairs(env: Env, variable: Variable, names: ReadonlySet<string>): [string, string][] {
  const text = env[variable] ?? "";
  if (text.trim() === "") return [];
  const found = text.split(",").map((entry): [string, string] => {
    const [name = "", value = "", ...more] = entry.split("=").map((part) => part.trim());
    if (name === "" || value === "" || more.length > 0)
      throw invalid(variable, `${JSON.stringify(entry.trim())} is not <name>=<value>`);
    if (!names.has(name)) throw invalid(variable, `${JSON.stringify(name)} has no token in ANTIPHON_TOKENS`);
    return [name, value];
  });
  if (new Set(found.map(([name]) => name)).size < found.length)
    throw invalid(variable, "a name occurs twice");
  return found;
}

function invalid(variable: Variable, detail: string): AntiphonError {
  return new AntiphonError("ANT_CONFIG_INVALID", `${variable}: ${detail}`, { data: { variable } });
}
