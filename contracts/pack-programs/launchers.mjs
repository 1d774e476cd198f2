// The last step of installing locked packages of npm: a program for each of the pack's own packages in `bin`, and its Node in
// `runtime`. Only the packages that the pack names get one, so that the agent's commands find no others than the image has.
// Its argument: the directory of the installed pack.
//
// A program of JavaScript is started by the pack's Node. The libraries that the image loads into each program (`LD_PRELOAD`) may be
// made for another C library than the pack's (own-libc.mjs), so the agent and its commands do without. So they do without the image's
// `LD_LIBRARY_PATH` where Node does not start with the libraries that it leads to.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

const place = process.argv[1];
const modules = `${place}/lib/node_modules`;
const node = `${modules}/node-linux-${process.arch}/bin/node`;
const SHEBANG_BYTES = 256;

const readJson = (file) => JSON.parse(fs.readFileSync(file));

function write(name, command) {
  const file = `${place}/${name}`;
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const lines = [
    "#!/bin/sh",
    "unset LD_PRELOAD",
    `[ -z "$LD_LIBRARY_PATH" ] || ${node} --version >/dev/null 2>&1 || unset LD_LIBRARY_PATH`,
    `exec ${command} "$@"`,
  ];
  fs.writeFileSync(file, `${lines.join("\n")}\n`, { mode: 0o755 });
}

// A program of JavaScript with the options of its first line; another one starts by itself.
function commandOf(program) {
  const begin = fs.readFileSync(program).subarray(0, SHEBANG_BYTES).toString("latin1");
  const script = /^#!.*[ /]node( [^\r\n]*)?\r?\n/.exec(begin);
  return script === null ? program : `${node}${script[1] ?? ""} ${program}`;
}

if (!fs.existsSync(node)) throw new Error(`the lock has no Node for linux on ${process.arch}`);
try {
  execFileSync(node, ["--version"]);
} catch (error) {
  throw new Error(
    `the Node of the lock does not start in this image; it needs glibc 2.28 and the C++ library: ${error.message}`,
    { cause: error },
  );
}
write("runtime/node", node);
for (const top of Object.keys(readJson(`${place}/lib/package.json`).dependencies)) {
  const { bin = {} } = readJson(`${modules}/${top}/package.json`);
  const programs = typeof bin === "string" ? { [path.basename(top)]: bin } : bin;
  for (const [name, file] of Object.entries(programs))
    write(`bin/${path.basename(name)}`, commandOf(path.join(modules, top, file)));
}
