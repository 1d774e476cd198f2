/**
 * The last step of installing locked packages of npm: a program for each of the pack's own packages in `bin`, and its Node in
 * `runtime`. Only the packages that the pack names get one, so that the agent's commands find no others than the image has.
 *
 * A program of JavaScript is started by the pack's Node. What the image loads into each program (`LD_PRELOAD`) may be made for another
 * C library than the pack's (pack-libc.ts), so the agent and its commands do without. So they do without the image's `LD_LIBRARY_PATH`
 * where Node does not start with the libraries that it leads to. A constant: the text is part of what makes an installation the same. Pure.
 */

/** A program of Node, without a single quote. Its argument: the directory of the installed pack. */
export const LAUNCHERS = `
const fs = require("fs"), path = require("path"), { execFileSync } = require("child_process");
const place = process.argv[1], modules = place + "/lib/node_modules";
const real = modules + "/node-linux-" + process.arch + "/bin/node", node = place + "/runtime/node";
const write = (name, line) => {
  fs.mkdirSync(path.dirname(place + "/" + name), { recursive: true });
  const alone = "unset LD_PRELOAD\\n[ -z \\"$LD_LIBRARY_PATH\\" ] || " + real + " --version >/dev/null 2>&1 || unset LD_LIBRARY_PATH\\n";
  fs.writeFileSync(place + "/" + name, "#!/bin/sh\\n" + alone + "exec " + line + " \\"$@\\"\\n", { mode: 0o755 });
};
if (!fs.existsSync(real)) throw new Error("the lock has no Node for linux on " + process.arch);
try {
  execFileSync(real, ["--version"]);
} catch (error) {
  throw new Error("the Node of the lock does not start in this image; it needs glibc 2.28 and the C++ library: " + error.message);
}
write("runtime/node", real);
for (const top of Object.keys(JSON.parse(fs.readFileSync(place + "/lib/package.json")).dependencies)) {
  const { bin = {} } = JSON.parse(fs.readFileSync(modules + "/" + top + "/package.json"));
  const programs = typeof bin === "string" ? { [path.basename(top)]: bin } : bin;
  for (const [name, file] of Object.entries(programs)) {
    const program = path.join(modules, top, file), begin = fs.readFileSync(program).subarray(0, 256).toString("latin1");
    const script = /^#!.*[ /]node( [^\\r\\n]*)?\\r?\\n/.exec(begin);
    write("bin/" + path.basename(name), (script ? real + (script[1] ?? "") + " " : "") + program);
  }
}
`.trim();
