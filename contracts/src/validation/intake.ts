/**
 * The first check of a value from outside, before any schema. It returns a copy that holds only null, booleans, finite
 * numbers, well-formed strings, arrays and plain objects, so that defaults are never written into a caller's object.
 *
 * Promises:
 *   contracts/C2 Because a stranger may have written a message, a file or a goal, reading one takes bounded time, size
 *     and depth, and gives no object with a foreign prototype; a `__proto__` key is refused, not dropped.
 */
import { limits } from "../limits.ts";

export type Unfit = { path: string; message: string; expected: string; found: string };

const SURROGATE = /\p{Surrogate}/u;

class UnfitSignal extends Error {
  readonly unfit: Unfit;
  constructor(unfit: Unfit) {
    super(unfit.message);
    this.unfit = unfit;
  }
}

class Walk {
  nodes = 0;
  readonly trail: (string | number)[] = [];

  fail(message: string, expected: string, found: string): never {
    throw new UnfitSignal({ path: pointer(this.trail), message, expected, found });
  }

  copy(value: unknown): unknown {
    // contracts/C2: the walk stops at the limits, before the stack overflows or time runs out.
    if (++this.nodes > limits.messageNodes) {
      this.fail(`more than ${limits.messageNodes} values`, `at most ${limits.messageNodes} values`, "more");
    }
    if (value === null || typeof value === "boolean") return value;
    if (typeof value === "string") return this.text(value);
    if (typeof value === "number") {
      if (!Number.isFinite(value))
        this.fail(`JSON has no ${String(value)}`, "a finite number", String(value));
      return value;
    }
    if (value === undefined && this.trail.length === 0) this.fail("is missing", "a document", "nothing");
    if (typeof value !== "object") this.fail(`JSON has no ${typeof value}`, "a JSON value", typeof value);
    if (this.trail.length >= limits.messageDepth) {
      this.fail(`deeper than ${limits.messageDepth} levels`, `at most ${limits.messageDepth} levels`, "more");
    }
    return Array.isArray(value) ? this.array(value) : this.object(value);
  }

  text(value: string): string {
    if (SURROGATE.test(value))
      this.fail("lone surrogate in a string", "well-formed Unicode", "a lone surrogate");
    return value;
  }

  array(value: readonly unknown[]): unknown[] {
    if (value.length > limits.messageNodes)
      this.fail("array too long", `at most ${limits.messageNodes} items`, `${value.length} items`);
    const out: unknown[] = new Array<unknown>(value.length);
    for (let i = 0; i < value.length; i++) {
      this.trail.push(i);
      out[i] = this.copy(value[i]);
      this.trail.pop();
    }
    return out;
  }

  object(value: object): Record<string, unknown> {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) {
      this.fail("not a plain object", "a JSON object", value.constructor?.name ?? "an exotic object");
    }
    const source = value as Record<string, unknown>;
    const out: Record<string, unknown> = {};
    for (const key of Object.keys(source)) {
      if (key === "__proto__")
        this.fail("the key `__proto__` is never allowed", "another key", "`__proto__`"); // contracts/C2
      this.trail.push(key);
      this.text(key);
      const item = source[key];
      if (item !== undefined) out[key] = this.copy(item);
      this.trail.pop();
    }
    return out;
  }
}

/** A JSON pointer; the root is `` (empty). */
export function pointer(trail: readonly (string | number)[]): string {
  return trail.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/**
 * Whether `intake` takes the value, without a copy or a place of the fault. Stored records are checked many times a
 * second and nearly all are fit; for the others `intake` finds the fault.
 */
export function isFit(value: unknown): boolean {
  return nodesIn(value, 0, 0) <= limits.messageNodes;
}

/** Number of values below and including this one, added to `before`; Infinity if one of them is unfit. */
function nodesIn(value: unknown, before: number, depth: number): number {
  const nodes = before + 1;
  if (nodes > limits.messageNodes) return Infinity;
  if (typeof value === "string") return value.isWellFormed() ? nodes : Infinity;
  if (value === null || typeof value === "boolean") return nodes;
  if (typeof value === "number") return Number.isFinite(value) ? nodes : Infinity;
  if (typeof value !== "object" || depth >= limits.messageDepth) return Infinity; // contracts/C2
  return Array.isArray(value)
    ? nodesInArray(value, nodes, depth + 1)
    : nodesInObject(value, nodes, depth + 1);
}

function nodesInArray(items: readonly unknown[], before: number, depth: number): number {
  let nodes = before;
  for (let i = 0; i < items.length && nodes <= limits.messageNodes; i += 1) {
    nodes = nodesIn(items[i], nodes, depth);
  }
  return nodes;
}

function nodesInObject(value: object, before: number, depth: number): number {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return Infinity;
  const source = value as Record<string, unknown>;
  let nodes = before;
  for (const key of Object.keys(source)) {
    if (key === "__proto__" || !key.isWellFormed()) return Infinity; // contracts/C2
    nodes = nodesIn(source[key], nodes, depth);
    if (nodes > limits.messageNodes) return Infinity;
  }
  return nodes;
}

export function intake(value: unknown): { ok: true; value: unknown } | { ok: false; unfit: Unfit } {
  const walk = new Walk();
  try {
    return { ok: true, value: walk.copy(value) };
  } catch (error) {
    if (error instanceof UnfitSignal) return { ok: false, unfit: error.unfit };
    throw error;
  }
}
