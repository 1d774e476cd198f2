/** An operator's settings of an egress gateway: hosts, credentials and prices. A JSON file without secrets. */
import { Type, type Static } from "typebox";
import { closed, oneOf } from "../shapes/shape.ts";

const host = (description: string) => Type.String({ minLength: 1, maxLength: 253, description });
const price = (description: string) => Type.Integer({ minimum: 0, maximum: 1_000_000_000_000, description });

const rates = {
  input: price("Micro-dollars per million tokens."),
  output: price("Micro-dollars per million tokens."),
  cache_read: Type.Optional(price("Default: the input price.")),
  cache_write: Type.Optional(price("Default: twice the input price for `anthropic`, else the input price.")),
};

export const ModelPrice = closed(
  {
    ...rates,
    max_output: Type.Integer({
      minimum: 1,
      maximum: 10_000_000,
      description: "Maximum tokens of one answer.",
    }),
    long: Type.Optional(
      closed(
        {
          above: Type.Integer({ minimum: 1, maximum: 100_000_000, description: "Tokens of input." }),
          ...rates,
        },
        { description: "The prices of a whole call with more input than `above`." },
      ),
    ),
  },
  { description: "The prices of a model." },
);

const EgressCredential = closed(
  {
    host: host("Exact name. The credential is sent only to this host, over TLS."),
    header: Type.Optional(
      Type.String({ pattern: "^[a-z0-9-]{1,64}$", description: "Default: authorization." }),
    ),
    value: Type.Optional(
      Type.String({ maxLength: 256, description: "Template with ${secret}. Default: `Bearer ${secret}`." }),
    ),
    user: Type.Optional(
      Type.String({ maxLength: 128, description: "HTTP Basic with this user, instead of `value`." }),
    ),
    env: Type.Optional(Type.String({ minLength: 1, description: "Environment variable with the secret." })),
    file: Type.Optional(Type.String({ minLength: 1, description: "File with the secret." })),
  },
  {
    description:
      "A secret that the gateway adds to requests; no sandbox ever holds it. Set either `env` or `file`.",
  },
);

const EgressModels = closed(
  {
    host: host("Exact name."),
    port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, description: "Default: 443." })),
    base_url: Type.Optional(
      Type.String({
        pattern: "^https?://",
        maxLength: 512,
        description:
          "Where its calls go, with the version segment: `http://127.0.0.1:11434/v1`. The address may be private. Default: the host itself.",
      }),
    ),
    shape: oneOf(["openai", "anthropic", "gemini"], { description: "The API it speaks." }),
    prices: Type.Record(Type.String({ minLength: 1, maxLength: 128 }), ModelPrice, {
      description:
        "Prices by model name; `name*` stands for the names that begin with it, `*` for all. A model without a price is refused.",
    }),
  },
  { description: "A host whose model calls are metered." },
);

const hosts = (description: string) =>
  Type.Optional(Type.Array(host("Host, `*.host`, or with `:port`."), { maxItems: 512, description }));

const UpstreamProxy = closed(
  {
    url: Type.String({
      pattern: "^https?://",
      maxLength: 300,
      description: "`http://host:port`, or `https://host:port`, whose certificate is checked.",
    }),
    user: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        pattern: "^[^:]*$",
        description: "Its user, for HTTP Basic.",
      }),
    ),
    env: Type.Optional(Type.String({ minLength: 1, description: "Environment variable with the password." })),
    file: Type.Optional(Type.String({ minLength: 1, description: "File with the password." })),
    by_name: Type.Optional(
      Type.Boolean({
        description:
          "True: the proxy is given names, resolves them, and decides which addresses may be reached. Default: it is given addresses that the gateway has resolved and checked.",
      }),
    ),
  },
  { description: "The proxy (HTTP CONNECT) of the deployment." },
);

export const EgressConfig = closed(
  {
    git_hosts: hosts("Instead of the well-known git hosts."),
    package_hosts: hosts("Instead of the well-known package hosts."),
    tunnel_hosts: hosts(
      "TLS is passed through: only the name is checked; methods and paths are neither checked nor logged, and no credential is added.",
    ),
    credentials: Type.Optional(Type.Array(EgressCredential, { maxItems: 256 })),
    models: Type.Optional(Type.Array(EgressModels, { maxItems: 64 })),
    upstream_proxy: Type.Optional(UpstreamProxy),
    upstream_ca_file: Type.Optional(
      Type.String({
        minLength: 1,
        description: "PEM file of authorities trusted in addition to the public ones.",
      }),
    ),
    private_hosts: hosts(
      "Hosts whose addresses may be private: mirrors and registries in a network of the deployment. Nothing of another host changes.",
    ),
    overrides: Type.Optional(
      Type.Record(
        Type.String({ minLength: 3, maxLength: 260 }),
        Type.String({ minLength: 3, maxLength: 64 }),
        {
          description:
            "DANGEROUS: maps `host:port` to `address:port`, without DNS and without the check that the address is public.",
        },
      ),
    ),
  },
  { description: "Hosts, credentials and prices of an egress gateway." },
);
export type EgressConfig = Static<typeof EgressConfig>;
