// antiphon keys: the public keys with which Directors sign decisions and commits.
import type { DirectorKey } from "@antiphon/contracts";
import { allowedSigner } from "../allowed-signer.ts";
import { examples } from "../context.ts";
import type { AddVerb } from "../context.ts";

export const addKeys: AddVerb = (program, context) => {
  program
    .command("keys")
    .summary("the public keys Directors sign decisions and commits with")
    .option("--allowed-signers", "as a file for git's gpg.ssh.allowedSignersFile")
    .option("--json", "a JWK set on stdout")
    .addHelpText(
      "after",
      examples([
        "antiphon keys --allowed-signers > signers",
        "git -c gpg.ssh.allowedSignersFile=$PWD/signers verify-commit antiphon/run_4f0c2k9s0x7d2m1q8z3a",
      ]),
    )
    .action(async (options: { allowedSigners?: boolean; json?: boolean }) => {
      const gateway = await context.gateway();
      const { keys } = await gateway.get<{ keys: DirectorKey[] }>("/keys");
      if (options.json === true) return context.screen.json({ keys });
      if (keys.length === 0) context.screen.err("no Director has published a key yet");
      for (const key of keys)
        context.screen.out(options.allowedSigners === true ? allowedSigner(key) : `${key.kid}  Ed25519`);
    });
};
