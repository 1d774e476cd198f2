/** A contract as a list of fields, for `antiphon explain` and the reference pages. */

export type Field = {
  /** `verify_profile.commands[]`, `files.<key>.mode`; a union's branch is written `agent(scripted).patch`. */
  path: string;
  type: string;
  required: boolean;
  /** As JSON; null if there is none. */
  default: string | null;
  description: string;
};

type Node = {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Node[];
  items?: Node;
  properties?: Record<string, Node>;
  patternProperties?: Record<string, Node>;
  additionalProperties?: boolean | Node;
  required?: string[];
  default?: unknown;
  description?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
};

export function fieldsOf(schema: unknown): Field[] {
  const out: Field[] = [];
  walk(schema as Node, "", out);
  return out;
}

function walk(node: Node, path: string, out: Field[]): void {
  if (node.anyOf !== undefined) {
    const branches = node.anyOf.filter((branch) => branch.type !== "null");
    for (const branch of branches)
      walk(branch, branches.length > 1 ? `${path}(${labelOf(branch)})` : path, out);
    return;
  }
  for (const [key, child] of Object.entries(node.properties ?? {})) {
    const at = path === "" ? key : `${path}.${key}`;
    out.push({
      path: at,
      type: typeOf(child),
      required: node.required?.includes(key) ?? false,
      default: child.default === undefined ? null : JSON.stringify(child.default),
      description: child.description ?? "",
    });
    walk(child, at, out);
  }
  if (node.items !== undefined) walk(node.items, `${path}[]`, out);
  const rest = valuesOf(node);
  if (rest !== undefined) walk(rest, `${path}.<key>`, out);
}

const valuesOf = (node: Node): Node | undefined => {
  if (typeof node.additionalProperties === "object") return node.additionalProperties;
  return Object.values(node.patternProperties ?? {})[0];
};

/** Names a branch by its constants, or else by its required keys. */
function labelOf(branch: Node): string {
  const constants = Object.values(branch.properties ?? {}).flatMap((property) => property.const ?? []);
  if (constants.length > 0) return constants.map(String).join(" ");
  return branch.properties === undefined
    ? typeOf(branch)
    : (branch.required?.find((key) => key === "tasks" || key === "evidence") ?? "object");
}

/** A type in words: `string (1..64)`, `"ok" | "failed"`, `list of object, at most 64`. */
export function typeOf(schema: unknown): string {
  const node = schema as Node;
  if (node.const !== undefined) return JSON.stringify(node.const);
  if (node.enum !== undefined) return node.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (node.anyOf !== undefined) return [...new Set(node.anyOf.map(typeOf))].join(" | ");
  switch (node.type) {
    case "array": {
      const bound = node.maxItems === undefined ? "" : `, at most ${node.maxItems}`;
      return `list of ${typeOf(node.items ?? {})}${node.minItems === undefined ? "" : `, at least ${node.minItems}`}${bound}`;
    }
    case "object": {
      const rest = valuesOf(node);
      return rest === undefined ? "object" : `map of ${typeOf(rest)}`;
    }
    case "string":
      return `string${range(node.minLength, node.maxLength)}${node.pattern === undefined ? "" : ` matching \`${node.pattern}\``}`;
    case undefined:
      return "any";
    default:
      return `${node.type}${range(node.minimum ?? node.exclusiveMinimum, node.maximum)}`;
  }
}

function range(low: number | undefined, high: number | undefined): string {
  if (low === undefined && high === undefined) return "";
  return high === undefined ? ` (${low}..)` : ` (${low ?? ""}..${high})`;
}
