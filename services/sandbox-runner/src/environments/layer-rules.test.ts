import { describe, expect, it } from "vitest";
import type { TarEntry } from "../workspace/tar-reader.ts";
import { keptEntry, type LayerTop } from "./layer-rules.ts";

const entry = (path: string, more: Partial<TarEntry> = {}): TarEntry => ({
  path,
  type: "file",
  mode: 0o644,
  size: 1,
  link: "",
  mtimeS: 7,
  ...more,
});
const kept = (given: TarEntry, top: LayerTop = "workspace") =>
  keptEntry(top, given, (path) => path === "src/app.js");
const link = (path: string, target: string, top?: LayerTop) =>
  kept(entry(path, { type: "symlink", link: target, size: 0 }), top) !== null;

describe("what setup made becomes part of the environment", () => {
  it("keeps files under the layer's two directories, with their times", () => {
    expect(kept(entry("./node_modules/a/index.js"))).toEqual({
      path: "workspace/node_modules/a/index.js",
      type: "file",
      mode: 0o644,
      size: 1,
      link: "",
      mtimeS: 7,
    });
    expect(kept(entry("./.cache/x"), "home")?.path).toBe("home/.cache/x");
  });

  it("leaves out files of the tree and its repository, but not a repository that was installed", () => {
    expect(kept(entry("./src/app.js"))).toBeNull();
    expect(kept(entry("./.git/config"))).toBeNull();
    expect(kept(entry("./vendor/x/.git/config"))?.path).toBe("workspace/vendor/x/.git/config");
    expect(kept(entry("./.gitignore.d"))?.path).toBe("workspace/.gitignore.d");
  });

  it("drops the rights that no file in a sandbox may have", () => {
    expect(kept(entry("a", { mode: 0o6755 }))?.mode).toBe(0o755);
    expect(kept(entry("d", { type: "directory", mode: 0o1555 }))?.mode).toBe(0o755);
  });

  it("leaves out devices and pipes", () => {
    for (const type of ["character", "block", "fifo"] as const) expect(kept(entry("x", { type }))).toBeNull();
  });

  it("leaves out paths that lead upwards or are absolute", () => {
    for (const path of ["../x", "a/../../x", "/etc/passwd", "a//b", ".", "./"])
      expect(kept(entry(path))).toBeNull();
  });

  it("keeps links inside the environment and to the image, whichever way they are written", () => {
    expect(link("node_modules/.bin/tsc", "../typescript/bin/tsc")).toBe(true);
    expect(link(".venv/bin/python", "/usr/bin/python3", "home")).toBe(true);
    expect(link("a", "/workspace/src/app.js")).toBe(true);
    expect(link("a", "/tmp/home/.local/bin/x")).toBe(true);
    expect(link("a/b", "../../../usr/lib/x")).toBe(true);
  });

  it("leaves out links to what is another sandbox's own", () => {
    for (const target of ["/proc/self/fd/3", "/dev/stdin", "/tmp/other", "../../tmp/x", "/tmp/homes/x"])
      expect(link("a", target)).toBe(false);
  });

  it("keeps a hard link under the same top", () => {
    expect(kept(entry("b", { type: "hardlink", link: "./a", size: 0 }))?.link).toBe("workspace/a");
    expect(kept(entry("b", { type: "hardlink", link: "/etc/shadow", size: 0 }))).toBeNull();
  });
});
