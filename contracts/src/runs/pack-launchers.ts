/**
 * The last step of installing locked packages of npm: a program for each of the pack's own packages in `bin`, and its Node in
 * `runtime`. Only the packages that the pack names get one, so that the agent's commands find no others than the image has.
 *
 * A program of JavaScript is started by the pack's Node. Where the image lacks the C++ library that Node needs, and only there,
 * Node is told where the one of the installation is. A constant: the text is part of what makes an installation the same. Pure.
 */

/** A program of Node, without a single quote. Its argument: the directory of the installed pack. */
export const LAUNCHERS = `
const fs = require("fs"), path = require("path"), { execFileSync } = require("child_process");
const place = process.argv[1], modules = place + "/lib/node_modules";
const write = (name, lines) => {
  fs.mkdirSync(path.dirname(place + "/" + name), { recursive: true });
  fs.writeFileSync(place + "/" + name, "#!/bin/sh\\n" + lines.join("\\n") + "\\n", { mode: 0o755 });
};
const real = modules + "/node-linux-" + process.arch + "/bin/node", node = place + "/runtime/node";
if (!fs.existsSync(real)) throw new Error("the lock has no Node for linux on " + process.arch);
try {
  execFileSync(real, ["--version"]);
} catch {
  throw new Error("the Node of the lock does not start in this image; it needs glibc 2.28 and the C++ library");
}
fs.mkdirSync(place + "/runtime/lib", { recursive: true });
for (const line of execFileSync("ldd", [real], { encoding: "utf8" }).split("\\n")) {
  const [, name, file] = /(lib(?:stdc[+][+]|gcc_s|atomic)[.]so[.0-9]*) => ([^ ]+)/.exec(line) ?? [];
  if (file) fs.copyFileSync(file, place + "/runtime/lib/" + name);
}
write("runtime/node", [
  real + " --version >/dev/null 2>&1 || export LD_LIBRARY_PATH=" + place + "/runtime/lib",
  "exec " + real + " \\"$@\\"",
]);
for (const top of Object.keys(JSON.parse(fs.readFileSync(place + "/lib/package.json")).dependencies)) {
  const { bin = {} } = JSON.parse(fs.readFileSync(modules + "/" + top + "/package.json"));
  const programs = typeof bin === "string" ? { [path.basename(top)]: bin } : bin;
  for (const [name, file] of Object.entries(programs)) {
    const program = path.join(modules, top, file), begin = fs.readFileSync(program).subarray(0, 256).toString("latin1");
    const script = /^#!.*[ /]node( [^\\r\\n]*)?\\r?\\n/.exec(begin);
    write("bin/" + path.basename(name), ["exec " + (script ? node + (script[1] ?? "") + " " : "") + program + " \\"$@\\""]);
  }
}
`.trim();
