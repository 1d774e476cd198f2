import { expect, it } from "vitest";
import { stepEnvironment } from "./variables.ts";

it("gives a command the variables of the image, but not those that are the sandbox's own", () => {
  expect(stepEnvironment({ env: ["PATH=/bin"] }, "/tmp")).toEqual({
    PATH: "/bin",
    HOME: "/tmp",
    LANG: "C.UTF-8",
    SHELL: "",
    TERM: "dumb",
  });
  const env = [
    "JAVA_HOME=/opt/java",
    "OPTS=a=b c",
    "HOME=/root",
    "ANTIPHON_RUN=x",
    "https_proxy=http://a",
    "TERM=xterm",
    "SHELL=/bin/zsh",
    "no-name",
  ];
  expect(stepEnvironment({ env }, "/tmp")).toMatchObject({
    JAVA_HOME: "/opt/java",
    OPTS: "a=b c",
    HOME: "/tmp",
    TERM: "xterm",
    SHELL: "/bin/zsh",
  });
  expect(Object.keys(stepEnvironment({ env }, "/tmp"))).toHaveLength(7);
  expect(stepEnvironment({ env: [] }, "/tmp")["PATH"]).toContain("/usr/bin");
});
