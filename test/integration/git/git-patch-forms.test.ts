/** A diff as git writes it, split into a Patch.v0 and joined again, keeps its meaning. */
import { splitDiff } from "@antiphon/contracts/documents/unified-diff";
import { applyPatch, checkPatch, patchText } from "@antiphon/git";
import { afterEach, expect, test } from "vitest";
import { makeProject, type Project } from "../../e2e/support/project.ts";

let project: Project;
afterEach(() => project.remove());

const BINARY = Buffer.from([0, 1, 2, 3, 255, 254, 0, 7, 9, 200]);

test.each([["--full-index"], ["--no-renames"], ["--abbrev=7"]])(
  "a diff with renames, a binary file and names beyond ASCII comes through a Patch.v0 whole: git diff --binary %s",
  async (option) => {
    project = makeProject({
      "ä name.txt": "1\n2\n3\n4\n5\n",
      "plain.txt": "x\n",
      "❤️.md": "a\n",
      "data.bin": "\0\u0001b",
    });
    const head = project.git("rev-parse", "HEAD").trim();
    project.git("mv", "ä name.txt", "ö new.txt");
    project.write("ö new.txt", "1\n2\n3\n4\n5\n6\n");
    project.git("mv", "plain.txt", "moved.txt");
    project.write("❤️.md", "b\n");
    project.write("dätä.bin", BINARY.toString("latin1"));
    project.write("data.bin", BINARY.toString("latin1"));
    project.git("add", "--all");
    const diff = project.git("diff", "--cached", "-M", "--binary", option);
    const text = patchText({ files: splitDiff(diff) });
    expect(text).toBe(diff);
    expect(checkPatch(text)).toMatchObject({ ok: true });
    const { tree } = await applyPatch(project.path, head, text);
    expect(tree).toBe(project.git("write-tree").trim());
  },
);
