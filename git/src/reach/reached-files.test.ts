import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { reachedFiles } from "./reached-files.ts";

function over(files: Record<string, string>, commands: readonly string[]) {
  const listing = { paths: Object.keys(files), links: new Map<string, string>() };
  const read = (paths: readonly string[]) =>
    Promise.resolve(
      new Map(paths.flatMap((path) => (files[path] === undefined ? [] : [[path, files[path]]]))),
    );
  return reachedFiles(listing, read, commands);
}

describe("the files that a check reaches", () => {
  it("each come with the path by which the check reaches them", async () => {
    const { files } = await over(
      {
        "package.json": '{"scripts":{"test":"sh ci/all.sh"}}',
        "ci/all.sh": "node ci/one.js",
        "ci/one.js": "",
      },
      ["npm test"],
    );
    expect(files.get("ci/one.js")).toEqual({
      as: "harness",
      why: "npm test -> package.json scripts.test -> ci/all.sh -> ci/one.js",
    });
  });

  it("hold a program of awk or jq in the sources for what is tried, and elsewhere for a judge", async () => {
    const script =
      "awk -f src/sum.awk in.txt | diff expected - && jq -f judge.jq out.json && diff src/want.txt out\n";
    const all = {
      "test.sh": script,
      "src/sum.awk": "",
      "src/want.txt": "",
      "in.txt": "",
      expected: "",
      "judge.jq": "",
    };
    const { files } = await over(all, ["sh test.sh"]);
    expect(files.get("src/sum.awk")).toBeUndefined();
    expect(files.get("judge.jq")).toMatchObject({ as: "harness" });
    expect(files.get("src/want.txt")).toMatchObject({ as: "harness" });
    const named = await over(all, ["awk -f src/sum.awk in.txt"]);
    expect(named.files.get("src/sum.awk")).toMatchObject({ as: "subject" });
  });

  it("end at a bound, and the answer says that it is incomplete", async () => {
    const files: Record<string, string> = {};
    for (let at = 0; at < 2000; at += 1) files[`ci/s${at}.sh`] = `sh ci/s${at + 1}.sh`;
    const { complete, files: found } = await over(files, ["sh ci/s0.sh"]);
    expect(complete).toBe(false);
    expect(found.size).toBeLessThan(2000);
  });

  it("are found among files that start each other in a circle", async () => {
    const { complete, files } = await over({ "ci/a.sh": "sh ci/b.sh", "ci/b.sh": ". ci/a.sh" }, [
      "sh ci/a.sh",
    ]);
    expect([...files.keys()]).toEqual(["ci/a.sh", "ci/b.sh"]);
    expect(complete).toBe(true);
  });

  it("are found in any text without a fault", async () => {
    const piece: fc.Arbitrary<string> = fc.oneof(
      fc.string({ unit: "binary", maxLength: 6 }),
      fc.constantFrom(
        ..."sh -c \" ' ` $( ${ ) } ( ; && | << < > \n \\ # = $0 $@ * ? make -C npm run node -r python3 -m cd .. ./a a.sh b.py Makefile package.json for in do done $(dirname ${X:-".split(
          " ",
        ),
      ),
    );
    const text = fc.array(piece, { maxLength: 40 }).map((parts: string[]) => parts.join(" "));
    await fc.assert(
      fc.asyncProperty(text, text, text, async (command, script, other) => {
        const files = {
          "a.sh": script,
          "b.py": other,
          Makefile: `${script}\nall:\n\t${other}`,
          "package.json": JSON.stringify({ scripts: { test: script, x: other } }),
          justfile: other,
          "tox.ini": script,
        };
        const commands = [command, "sh a.sh", "make", "npm test x", "just", "tox", "python3 b.py"];
        const { files: found } = await over(files, commands);
        for (const path of found.keys()) expect(Object.keys(files)).toContain(path);
      }),
      { numRuns: 200 },
    );
  }, 30_000);

  it.each([
    ["brackets that never close", "$(".repeat(20_000)],
    ["quotes that never close", '"`'.repeat(50_000)],
    ["one word of a megabyte", "a".repeat(1_000_000)],
    ["a here-document in a here-document", "<<A\n".repeat(20_000)],
    ["globs", "**/*".repeat(5000)],
  ])("are found in time in a command of %s", async (_name, text) => {
    const began = performance.now();
    await over({ "a.sh": text, "b.js": "" }, [text, "sh a.sh"]);
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});
