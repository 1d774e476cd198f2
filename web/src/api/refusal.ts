/** A request that the gateway refused, or that never reached it: code, message and remedy, as the gateway gives them. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: string;
  readonly remedy: string;
  readonly status: number;

  constructor(code: string, message: string, remedy: string, status: number) {
    super(message);
    this.code = code;
    this.remedy = remedy;
    this.status = status;
  }

  /** Without a token nothing is answered; the page asks for one. */
  get needsToken(): boolean {
    return this.code === "ANT_GATEWAY_TOKEN_REQUIRED";
  }
}

interface ErrorBody {
  readonly error?: { readonly code?: string; readonly message?: string; readonly remedy?: string };
}

export async function refusalOf(response: Response): Promise<Refusal> {
  const body = (await response.json().catch(() => ({}))) as ErrorBody;
  const { code = "ANT_GATEWAY_UNREADABLE", message = response.statusText, remedy = "" } = body.error ?? {};
  return new Refusal(code, message, remedy, response.status);
}

export function unreachable(error: unknown): Refusal {
  const why = error instanceof Error ? error.message : String(error);
  return new Refusal(
    "ANT_GATEWAY_UNREACHABLE",
    `the gateway does not answer: ${why}`,
    "check that it runs; the page tries again by itself",
    0,
  );
}
