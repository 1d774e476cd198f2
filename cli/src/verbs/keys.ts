// antiphon keys [make]: lists the public keys with which Directors sign decisions and commits, or creates such a key.
import type { Command } from "commander";
import { allowedSigner } from "../keys/allowed-signer.ts";
import { examples } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";

export const addKeys: AddVerb = (program, context) => {
  const keys = program
    .command("keys")
    .enablePositionalOptions()
    .summary("list the public keys that sign decisions and commits")
    .option("--allowed-signers", "print a file for git's gpg.ssh.allowedSignersFile")
    .option("--json", "print a JWK set")
    .addHelpText(
      "after",
      examples([
        "antiphon keys --allowed-signers > signers",
        "git -c gpg.ssh.allowedSignersFile=$PWD/signers verify-commit antiphon/run_4f0c2k9s0x7d2m1q8z3a",
      ]),
    )
    .action(async (options: { allowedSigners?: boolean; json?: boolean }) => {
      const gateway = await context.gateway();
      const { keys } = await gateway.get("/keys");
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
    .summary("create a Director's signing key and add it to a file of trusted keys")
    .argument("<key>", "PEM file of the private key; created if it does not exist")
    .requiredOption("--trust <file>", "the file of trusted keys (a JWK set); created if it does not exist")
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(["antiphon keys make director-key.pem --trust trusted-keys.json"]))
    .action(async (file: string, options: { trust: string; json?: boolean }) => {
      const { makeKey } = await import("../keys/key-files.ts");
      const { key, made, trusted } = makeKey(file, options.trust);
      if (options.json === true) return context.screen.json({ key, made, trusted });
      context.screen.out(`${made ? "created" : "found"} ${file}, key ${key.kid}`);
      context.screen.out(`${options.trust} trusts ${trusted === 1 ? "1 key" : `${trusted} keys`}`);
    });
}
