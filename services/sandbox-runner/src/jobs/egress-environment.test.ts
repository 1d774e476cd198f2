import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { writeCertificates } from "./egress-environment.ts";

test("every byte of the trust store passes through a shell as it is", () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  const [shell = "", option = "", script = ""] = writeCertificates(bytes);
  const printed = script.slice(script.indexOf("printf"), script.lastIndexOf(" > "));
  for (const sh of [shell, "bash"]) expect(execFileSync(sh, [option, printed])).toEqual(bytes);
});
