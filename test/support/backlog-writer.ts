/** A process that comments on one work item of a file backlog again and again, and says so, until it is killed. */
import { FileBacklog } from "../../services/director/src/work-items/file-backlog.ts";

const [, , directory = "", path = "", name = ""] = process.argv;
const backlog = new FileBacklog(directory);
const repo = { name: "app", path };
process.on("disconnect", () => process.exit());
for (let i = 0; ; i += 1) {
  await backlog.comment(repo, "1", { body: `${name} ${i}`, key: `${name}/${i}` });
  process.send?.(i);
}
