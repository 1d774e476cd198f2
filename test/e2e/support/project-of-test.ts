import { onTestFinished } from "vitest";
import { makeProject, type Project } from "./project.ts";

/** A small git repository that goes when the test that made it is over. */
export function projectOfTest(files: Record<string, string>): Project {
  const project = makeProject(files);
  onTestFinished(() => project.remove());
  return project;
}
