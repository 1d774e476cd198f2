/** Makes an example document from a schema: required fields, and fields with a default. Always valid. */

type Node = {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Node[];
  items?: Node;
  properties?: Record<string, Node>;
  required?: string[];
  default?: unknown;
  pattern?: string;
  minimum?: number;
  exclusiveMinimum?: number;
  minItems?: number;
};

/** Texts that fit the patterns of the contracts. A test checks that every pattern has one. */
const TEXTS = [
  "an example",
  "example",
  "run_a1b2c3d4e5f6g7h8i9j0",
  "it_a1b2c3d4e5f6g7h8i9j0k1l2m3",
  "T-001",
  `sha256-${"A".repeat(43)}`,
  "0123456789abcdef0123456789abcdef01234567",
  "0".repeat(64),
  `sha256:${"0".repeat(64)}`,
  "ANT_VERIFY_CHECK_FAILED",
  "as_0a1b2c3d4e",
  "PT5M",
  "2026-01-01T00:00:00Z",
  "reviewer",
  "job-1",
  "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
  "",
  "/srv/app",
  "chk_a1b2c3d4e5",
  "rpl_a1b2c3d4e5",
  "dee_a1b2c3d4e5",
];

/** Realistic values by key. */
const BY_KEY: Readonly<Record<string, string>> = {
  path: "src/app.ts",
  task_id: "T-001",
  run_id: "run_a1b2c3d4e5f6g7h8i9j0",
  goal: "Fix the failing date parser",
  instruction: "Fix the failing date parser",
  objective: "Fix the failing date parser",
  intent: "Fix the failing date parser",
  command: "npm test",
  summary: "Parse the month before the day.",
  bucket: "ANT_EVIDENCE_FILES",
  ref: "refs/heads/main",
  tree: "0123456789abcdef0123456789abcdef01234567",
};

export function sampleOf(schema: unknown, key = ""): unknown {
  const node = schema as Node;
  if (node.default !== undefined) return structuredClone(node.default);
  if (node.const !== undefined) return node.const;
  if (node.enum !== undefined) return node.enum[0];
  if (node.anyOf !== undefined) return sampleOf(node.anyOf[0], key);
  switch (node.type) {
    case "object":
      return sampleObject(node);
    case "array":
      return Array.from({ length: node.minItems ?? 0 }, () => sampleOf(node.items ?? {}, key));
    case "string":
      return sampleText(node, key);
    case "integer":
    case "number":
      return Math.max(node.minimum ?? 0, node.exclusiveMinimum === undefined ? 0 : node.exclusiveMinimum + 1);
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return {};
  }
}

function sampleObject(node: Node): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [name, child] of Object.entries(node.properties ?? {})) {
    if (node.required?.includes(name) === true || child.default !== undefined)
      out[name] = sampleOf(child, name);
  }
  return out;
}

function sampleText({ pattern }: Node, key: string): string {
  const wanted = BY_KEY[key];
  const fits = (text: string): boolean => pattern === undefined || new RegExp(pattern, "u").test(text);
  if (wanted !== undefined && fits(wanted)) return wanted;
  const found = TEXTS.find(fits);
  if (found === undefined) throw new Error(`no example text fits ${pattern ?? ""}`);
  return found;
}
