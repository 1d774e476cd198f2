/**
 * What the tests of real agents begin with: a stack whose sandboxes reach the package registries, a model server behind the
 * hosts of the packs, and repositories to fix. A test that needs model servers of its own names their hosts.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startModelStub, type ModelStub } from "../../support/model-stub.ts";
import { accessTo, EDIT, INSTALL_MS, packHostsAt, type Ended, type ModelHost } from "./agents-with-models.ts";
import { BROKEN_CALCULATOR, FIX, makeProject, type Project } from "./project.ts";
import { startStack, type Stack } from "./stack.ts";

export interface AgentStack {
  readonly stack: Stack;
  /** At the hosts of the packs. */
  readonly stub: ModelStub;
  /** For files of the test; goes with the stack. */
  readonly directory: string;
  /** A repository of its own, for one run. */
  project(files?: Readonly<Record<string, string>>): Project;
  /** `antiphon run` with a goal, an agent, a budget of 2 USD and these words, up to its end or its question. */
  ran<Document = Ended>(
    goal: string,
    repo: Project,
    agent: string,
    ...words: readonly string[]
  ): Promise<Document>;
  /** The same with the goal "Fix the broken add". */
  fixed<Document = Ended>(repo: Project, agent: string, ...words: readonly string[]): Promise<Document>;
  stop(): Promise<void>;
}

interface Asked {
  /** Model servers of the test's own. */
  readonly more?: readonly ModelHost[];
  /** The command that the model server behind the hosts of the packs asks for. Default: `FIX`. */
  readonly wants?: Parameters<typeof startModelStub>[0];
  /** Tokens of an answer from there. */
  readonly mostOutput?: number;
  /** Image ids that this stack allows. Those of `antiphon images allow` are the checkout's, so tests beside each other share them. */
  readonly images?: readonly string[];
}

export async function startAgentStack({
  more = [],
  wants = FIX,
  mostOutput,
  images = [],
}: Asked = {}): Promise<AgentStack> {
  const directory = mkdtempSync(join(tmpdir(), "antiphon-agents-"));
  const stub = await startModelStub(wants, EDIT);
  const models = [...packHostsAt(stub.port, mostOutput), ...more];
  const env = { ...(await accessTo(models, directory)), ANTIPHON_SANDBOX_ALLOW: images.join(",") };
  const stack = await startStack({ env });
  const projects: Project[] = [];
  const ran = async <Document>(goal: string, repo: Project, agent: string, ...words: readonly string[]) => {
    const own = words.includes("--model-usd") ? [] : ["--model-usd", "2"];
    const { document } = await stack.json<Document>(
      ["run", goal, "--repo", repo.path, "--agent", agent, ...own, ...words],
      { timeoutMs: INSTALL_MS },
    );
    return document;
  };
  return {
    stack,
    stub,
    directory,
    project(files = BROKEN_CALCULATOR) {
      const made = makeProject(files);
      projects.push(made);
      return made;
    },
    ran,
    fixed: (repo, agent, ...words) => ran("Fix the broken add", repo, agent, ...words),
    async stop() {
      for (const project of projects) project.remove();
      await stack.stop();
      await stub.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
