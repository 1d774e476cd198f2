/** One fixed landing for crash tests. */
import { applyPatch, buildCommit, landRef } from "@antiphon/git";

const PATCH = `diff --git a/landed.txt b/landed.txt
new file mode 100644
index 0000000000000000000000000000000000000000..257cc5642cb1a054f08cc83f2d943e56fd3ebe99
--- /dev/null
+++ b/landed.txt
@@ -0,0 +1 @@
+foo
`;

export async function landOnce(
  path: string,
  parent: string,
  ref: string,
): Promise<{ kind: string; commit: string }> {
  const { tree, objects } = await applyPatch(path, parent, PATCH);
  const trailers = { "Antiphon-Run": ref.split("/").at(-1) ?? "", "Antiphon-Task": "T-001" };
  const at = new Date("2026-01-01T00:00:00Z");
  const commit = await buildCommit(path, { parent, tree, objects, message: "Land", trailers, at });
  const { kind } = await landRef(path, ref, commit, null);
  return { kind, commit };
}
