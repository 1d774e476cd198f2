/** A small pack whose package has a compiled part, with the hashes of an agent's lock. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Its directory, below another one. @param command what the agent runs after it has told its version of Python */
export function packOfPyPI(below: string, command: string): string {
  const folder = mkdtempSync(join(below, "of-pypi-"));
  const agents = join(import.meta.dirname, "../../../agents");
  const lock = readFileSync(join(agents, "mini-swe-agent/requirements.txt"), "utf8");
  const [line = "", requirement = ""] = /^(MarkupSafe==\S+) .*$/m.exec(lock) ?? [];
  writeFileSync(join(folder, "requirements.txt"), `${line}\n`);
  const program = [
    "import markupsafe._speedups, subprocess, sys",
    'print("mine is 3.%d, with" % sys.version_info.minor, markupsafe.escape("<"), flush=True)',
    `subprocess.run(["sh", "-c", ${JSON.stringify(command)}], check=True)`,
  ];
  const pack = {
    ...{ name: "of-pypi", argv: ["python", "-c", program.join("; ")], prompt: "stdin" },
    install: { pip: [requirement], lock: "requirements.txt" },
    transcript: { format: "text" },
  };
  writeFileSync(join(folder, "agent.yaml"), JSON.stringify(pack));
  return folder;
}
