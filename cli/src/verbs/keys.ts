// antiphon keys [make]: the public keys with which Directors sign decisions and commits, and a key of that kind.
import type { Command } from "commander";
import type { DirectorKey } from "@antiphon/contracts";
import { allowedSigner } from "../keys/allowed-signer.ts";
import { examples } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import { makeKey } from "../keys/key-files.ts";

export const addKeys: AddVerb = (program, context) => {
  const keys = program
    .command("keys")
    .enablePositionalOptions()
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
  addMake(keys, context);
};

function addMake(keys: Command, context: CliContext): void {
  keys
    .command("make")
    .summary("make a Director's key, and trust it in a file of trusted keys")
    .argument("<key>", "PEM file of the private key; made when it is not there")
    .requiredOption(
      "--trust <file>",
      "the trusted keys (a JWK set); made when it is not there, else added to",
    )
    .option("--json", "one JSON object on stdout")
    .addHelpText("after", examples(["antiphon keys make director-key.pem --trust trusted-keys.json"]))
    .action((file: string, options: { trust: string; json?: boolean }) => {
      const { key, made, trusted } = makeKey(file, options.trust);
      if (options.json === true) return context.screen.json({ key, made, trusted });
      context.screen.out(`${made ? "made" : "found"} ${file}, key ${key.kid}`);
      context.screen.out(`${options.trust} trusts ${trusted === 1 ? "1 key" : `${trusted} keys`}`);
    });
}
