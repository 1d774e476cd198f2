/**
 * Follows one parameter through the code: `npm run bench -- ways`. Other functions: `-- ways <file>:<function>:<parameter> ...`.
 * Results of calls are not followed. Where one of them goes on as the parameter, its functions in the same file are added to the
 * way: `<file>:<function>:<parameter>+<function>:<parameter>`.
 *
 * From the function on, each call that passes the parameter on is entered, in the order of the text, and so are the calls in it.
 * What is taken out of the parameter, or made with it, counts as the parameter, unless it is a string, a number or a boolean.
 * A file that is entered, or come back to, is a stay; a stay in a file that was left before is a return. A function that was
 * read already is entered again and not followed again.
 *
 * Not followed: calls of a port or of a callback, because the text does not say where they lead.
 */
import { resolve } from "node:path";
import ts from "typescript";

const WAYS = [
  "services/director/src/verification/verification.ts:verify:effect",
  "services/sandbox-runner/src/jobs/job.ts:runJob:request+inSandbox:job+performStages:job",
  "services/associate/src/claim/settlement.ts:settle:job",
];
const PRIMITIVE =
  ts.TypeFlags.StringLike | ts.TypeFlags.NumberLike | ts.TypeFlags.BooleanLike | ts.TypeFlags.VoidLike;

type Body = ts.FunctionLikeDeclaration & { readonly body: ts.ConciseBody };

export function run(asked: readonly string[]): Promise<void> {
  const ways = asked.length === 0 ? WAYS : asked;
  const program = ts.createProgram(
    ways.map((way) => resolve(way.split(":")[0] ?? "")),
    {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.NodeNext,
      strict: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      noEmit: true,
      resolveJsonModule: true,
      types: ["node"],
    },
  );
  console.table(ways.map((way) => ({ way: way.split("/").at(-1) ?? way, ...followed(program, way) })));
  return Promise.resolve();
}

function followed(program: ts.Program, way: string): { stays: number; files: number; returns: number } {
  const [path = "", ...rest] = way.split(":");
  const starts = rest.join(":").split("+");
  const checker = program.getTypeChecker(); // it also gives each node its parent
  const source = program.getSourceFile(resolve(path));
  const journey = new Journey(checker);
  let stays: readonly string[] = [];
  for (const one of starts) {
    const [name, parameter] = one.split(":");
    const start = source?.statements.find(
      (declared): declared is ts.FunctionDeclaration & Body =>
        ts.isFunctionDeclaration(declared) && declared.name?.text === name && declared.body !== undefined,
    );
    const first = start?.parameters.find((declared) => declared.name.getText() === parameter);
    if (start === undefined || first === undefined) throw new Error(`there is no ${one} in ${path}`);
    stays = journey.from(start, [first]);
  }
  const files = new Set(stays).size;
  return { stays: stays.length, files, returns: stays.length - files };
}

class Journey {
  readonly #checker: ts.TypeChecker;
  readonly #stays: string[] = [];
  readonly #read = new Set<Body>();

  constructor(checker: ts.TypeChecker) {
    this.#checker = checker;
  }

  from(start: Body, parameters: readonly ts.ParameterDeclaration[]): readonly string[] {
    this.#read.delete(start); // with other parameters it is read anew
    this.#enter(start, parameters);
    return this.#stays;
  }

  #enter(body: Body, parameters: readonly ts.ParameterDeclaration[]): void {
    this.#stay(body);
    if (this.#read.has(body)) return;
    this.#read.add(body);
    const known = new Set<ts.Symbol>();
    for (const { name } of parameters) this.#learn(name, known);
    this.#walk(body.body, known, body);
  }

  #stay(node: ts.Node): void {
    const { fileName } = node.getSourceFile();
    if (this.#stays.at(-1) !== fileName) this.#stays.push(fileName);
  }

  #walk(node: ts.Node, known: Set<ts.Symbol>, within: Body): void {
    ts.forEachChild(node, (child) => this.#walk(child, known, within));
    if (ts.isVariableDeclaration(node) && node.initializer !== undefined) {
      if (this.#holds(node.initializer, known)) this.#learn(node.name, known);
    } else if (ts.isCallExpression(node) || ts.isNewExpression(node)) this.#call(node, known, within);
  }

  #call(call: ts.CallExpression | ts.NewExpression, known: Set<ts.Symbol>, within: Body): void {
    const target = this.#checker.getResolvedSignature(call)?.declaration;
    if (target === undefined || !isOurs(target)) return;
    const passed = target.parameters.filter((_, i) => {
      const argument = call.arguments?.[i];
      return argument !== undefined && this.#holds(argument, known);
    });
    if (passed.length === 0) return;
    this.#enter(target, passed);
    this.#stay(within);
  }

  /** Results of calls and the bodies of functions are other values. */
  #holds(value: ts.Node, known: ReadonlySet<ts.Symbol>): boolean {
    if (ts.isCallExpression(value) || ts.isNewExpression(value) || ts.isFunctionLike(value)) return false;
    if (ts.isExpression(value) && this.#isPrimitive(value)) return false;
    if (ts.isIdentifier(value)) {
      const symbol = ts.isShorthandPropertyAssignment(value.parent)
        ? this.#checker.getShorthandAssignmentValueSymbol(value.parent)
        : this.#checker.getSymbolAtLocation(value);
      return symbol !== undefined && known.has(symbol);
    }
    if (ts.isPropertyAccessExpression(value)) return this.#holds(value.expression, known);
    if (ts.isPropertyAssignment(value)) return this.#holds(value.initializer, known);
    return ts.forEachChild(value, (child) => this.#holds(child, known) || undefined) === true;
  }

  #isPrimitive(value: ts.Expression): boolean {
    const type = this.#checker.getNonNullableType(this.#checker.getTypeAtLocation(value));
    const parts = type.isUnion() ? type.types : [type];
    return parts.length > 0 && parts.every(({ flags }) => (flags & PRIMITIVE) !== 0);
  }

  #learn(name: ts.BindingName, known: Set<ts.Symbol>): void {
    if (!ts.isIdentifier(name)) {
      for (const element of name.elements) if (ts.isBindingElement(element)) this.#learn(element.name, known);
      return;
    }
    const symbol = this.#checker.getSymbolAtLocation(name);
    if (symbol !== undefined && !this.#isPrimitive(name)) known.add(symbol);
  }
}

function isOurs(target: ts.SignatureDeclaration | ts.JSDocSignature): target is Body {
  const { fileName, isDeclarationFile } = target.getSourceFile();
  return (
    !isDeclarationFile &&
    !fileName.includes("/node_modules/") &&
    "body" in target &&
    target.body !== undefined
  );
}
