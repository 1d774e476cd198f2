/** The Dockerfile of the services, with one target for each role. The part above the targets is written by hand. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import roles from "../contracts/src/roles.json" with { type: "json" };

export const SERVICE_DOCKERFILE = "deploy/images/service/Dockerfile";
const TARGETS =
  "\n# The targets, one for each role of contracts/src/roles.json: written by `npm run generate`.\n";

export function serviceDockerfile(root: string): string {
  const [head = ""] = readFileSync(join(root, SERVICE_DOCKERFILE), "utf8").split(TARGETS);
  const targets = roles.map(({ role, git, port }) =>
    [
      `FROM ${git ? "runtime-git" : "runtime"} AS ${role}`,
      ...(port === undefined ? [] : [`EXPOSE ${port}`]),
      `ENTRYPOINT ["node", "bin/antiphon.mjs", "serve", "--role", "${role}"]`,
    ].join("\n"),
  );
  return `${head}${TARGETS}${targets.join("\n\n")}\n`;
}
