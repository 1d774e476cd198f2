/** The public half of a signing key, apart from what verifies with it: browsers have the contracts, and no `node:crypto`. */
import { Type, type Static } from "typebox";
import { closed } from "./shape.ts";

export const DirectorKey = closed(
  {
    kty: Type.Literal("OKP"),
    crv: Type.Literal("Ed25519"),
    x: Type.String({ pattern: "^[A-Za-z0-9_-]{43}$", description: "The public key, base64url." }),
    kid: Type.String({ pattern: "^[A-Za-z0-9_-]{43}$", description: "RFC 7638 thumbprint of the key." }),
    use: Type.Literal("sig"),
  },
  { description: "Public half of a Director's signing key, as a JSON Web Key (RFC 8037)." },
);
export type DirectorKey = Static<typeof DirectorKey>;
