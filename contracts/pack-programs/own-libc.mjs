// The C library of a pack of npm packages: that of the image in which they are installed, so that the pack's programs need none of
// the image in which they run. Node and native programs start in an image with musl, without any C library, or with an older one.
// Its argument: the directory of the installed pack.
//
// A program for glibc names its loader by a path, and the loader has paths in it where it searches for libraries. Both are
// written over with paths of the pack, in the pack's own programs and in its own copy of the loader, so nothing has to be told on a
// command line or by a variable: `process.execPath` is Node, a program that starts itself again starts, and the commands of the
// agent start with their usual loader. The copy reads no `/etc/ld.so.cache` and no `/etc/ld.so.preload`, and it does not search
// `/lib` and `/usr/lib`, whose libraries are made for the C library of the image.
//
// A path that is written over keeps its length; a slash may be repeated. Where the loader has no paths that are long enough (those
// of Debian and Ubuntu are, those of other distributions are not), the programs stay as they are, and this says so.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

const place = process.argv[1];
const libc = `${place}/libc`;
const ownLoader = `${libc}/ld`;

// Of the ELF format, 64 bits, little endian: where its header names the table of segments, and what that says of the loader.
const MAGIC = "\x7fELF\x02\x01";
const HEADER_BYTES = 64;
const TABLE_AT = 32;
const ENTRY_BYTES_AT = 54;
const ENTRIES_AT = 56;
const ENTRY_BYTES = 56;
const INTERPRETER = 3;
const OFFSET_AT = 8;
const LENGTH_AT = 32;

// Loaded by name while a program runs, so ldd does not tell of them.
const LOADED_LATER = ["dl.so.2", "pthread.so.0", "rt.so.1", "util.so.1", "anl.so.1"];
const FOR_NAMES = ["resolv.so.2", "nss_dns.so.2", "nss_files.so.2"];
// As the loader of Debian and Ubuntu has them: two directories of the architecture, then /lib and /usr/lib.
const SEARCHED = /((?:\/usr)?\/lib\/[a-z0-9_]+-linux-gnu\/\0){2}\/lib\/\0\/usr\/lib\/\0/g;
const FILES_A_CALL = 500;

const isOfArchitecture = (directory) => directory.includes("-linux-gnu");

function bytesOf(fd, at, size) {
  const bytes = Buffer.alloc(size);
  return bytes.subarray(0, fs.readSync(fd, bytes, 0, size, at));
}

// Null: no program and no library. Without a loader it is a library, or linked statically.
function lookInto(file) {
  const fd = fs.openSync(file, "r");
  try {
    const head = bytesOf(fd, 0, HEADER_BYTES);
    if (head.length < HEADER_BYTES || head.toString("latin1", 0, MAGIC.length) !== MAGIC) return null;
    const size = head.readUInt16LE(ENTRY_BYTES_AT);
    const table = bytesOf(fd, Number(head.readBigUInt64LE(TABLE_AT)), size * head.readUInt16LE(ENTRIES_AT));
    for (let at = 0; at + ENTRY_BYTES <= table.length; at += size) {
      if (table.readUInt32LE(at) !== INTERPRETER) continue;
      const start = Number(table.readBigUInt64LE(at + OFFSET_AT));
      const named = bytesOf(fd, start, Number(table.readBigUInt64LE(at + LENGTH_AT)));
      return { file, start, loader: named.toString("latin1").split("\0")[0] };
    }
    return { file, loader: null };
  } finally {
    fs.closeSync(fd);
  }
}

function filesIn(directory) {
  return fs.readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(directory, entry.name);
    if (entry.isDirectory()) return filesIn(file);
    return entry.isFile() ? [file] : [];
  });
}

// The path `to`, as long as `from`.
function overwritten(from, to) {
  return to.replace(/(?=[^/]+\/?$)/, "/".repeat(from.length - to.length));
}

// By name: the libraries that these files load from outside the pack.
function librariesOf(files) {
  const libraries = new Map();
  for (let at = 0; at < files.length; at += FILES_A_CALL) {
    const { stdout } = spawnSync("ldd", files.slice(at, at + FILES_A_CALL), { encoding: "utf8" });
    for (const [, name, file] of (stdout ?? "").matchAll(/(\S+) => (\/\S+) \(/g))
      if (!file.startsWith(`${place}/`)) libraries.set(name, file);
  }
  if (!libraries.has("libc.so.6")) throw new Error("ldd does not say where the C library of this image is");
  const directory = path.dirname(libraries.get("libc.so.6"));
  for (const name of [...LOADED_LATER, ...FOR_NAMES].map((end) => `lib${end}`))
    if (fs.existsSync(`${directory}/${name}`)) libraries.set(name, `${directory}/${name}`);
  return libraries;
}

// The text of a loader that searches the pack's libraries alone.
function loaderOfPack(text) {
  const replaced = (one) => {
    if (one === "") return "";
    return overwritten(one, isOfArchitecture(one) ? `${libc}/` : "/dev/");
  };
  return text
    .replace(SEARCHED, (all) => all.split("\0").map(replaced).join("\0"))
    .replaceAll("/etc/ld.so.", "/dev/null/.");
}

function keepLibrary({ loader, text, found, programs }) {
  fs.mkdirSync(libc, { recursive: true });
  for (const [name, file] of librariesOf(found.map(({ file }) => file)))
    fs.copyFileSync(file, `${libc}/${name}`);
  fs.writeFileSync(ownLoader, loaderOfPack(text), { encoding: "latin1", mode: 0o755 });
  for (const { file, start } of programs) {
    const fd = fs.openSync(file, "r+");
    fs.writeSync(fd, overwritten(loader, ownLoader), start, "latin1");
    fs.closeSync(fd);
  }
}

const { loader = null } = lookInto(process.execPath) ?? {};
const found = filesIn(`${place}/lib`)
  .map(lookInto)
  .filter((one) => one !== null && (one.loader === null || one.loader === loader));
const programs = found.filter((one) => one.loader !== null);
const text = loader === null ? "" : fs.readFileSync(loader, "latin1");
const directories = [...text.matchAll(SEARCHED)].flatMap(([all]) => all.split("\0").filter(isOfArchitecture));
const fits =
  directories.length > 0 &&
  loader.length >= ownLoader.length &&
  directories.every((one) => one.length > libc.length);
if (programs.length > 0 && fits) keepLibrary({ loader, text, found, programs });
if (programs.length > 0 && !fits)
  console.log(
    "The C library of this image cannot be kept with the agent: its programs need that of the image in which they run.",
  );
