import { describe, expect, it } from "vitest";
import { projectOf } from "./tracker-project.ts";

const server = new URL("https://git.example.com/");

describe("the project of a repository", () => {
  it.each([
    "https://git.example.com/acme/app.git",
    "https://git.example.com/acme/app/",
    "ssh://git@git.example.com:2222/acme/app.git",
  ])("is found in %s", (url) => expect(projectOf(url, server)).toBe("acme/app"));

  it("is found below the path of a server", () => {
    expect(projectOf("https://h.example/git/acme/app", new URL("https://h.example/git/"))).toBe("acme/app");
    expect(projectOf("https://h.example/acme/app", new URL("https://h.example/git/"))).toBeNull();
  });

  it.each([
    "https://git.example.com.evil.example/acme/app",
    "https://git.example.com:8443/acme/app",
    "file:///git.example.com/acme/app",
    "https://git.example.com/acme",
    "https://git.example.com/acme/app/issues",
    "https://git.example.com/acme/..%2f..",
    "nothing",
  ])("is not found in %s", (url) => expect(projectOf(url, server)).toBeNull());
});
