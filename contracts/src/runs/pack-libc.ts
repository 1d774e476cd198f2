/**
 * The C library of a pack of npm packages: that of the image in which they are installed, so that the pack's programs need none of the
 * image in which they run. Node and native programs start in an image with musl, without any C library, or with an older one.
 *
 * A program for glibc names its loader by a path, and the loader has paths in it where it searches for libraries. Both are
 * written over with paths of the pack, in the pack's own programs and in its own copy of the loader, so nothing has to be told on a
 * command line or by a variable: `process.execPath` is Node, a program that starts itself again starts, and what the commands of the
 * agent start has its usual loader. The copy reads no `/etc/ld.so.cache` and no `/etc/ld.so.preload`, and it does not search `/lib` and
 * `/usr/lib`: what it would find there is made for the C library of the image.
 *
 * A path that is written over keeps its length; a slash may be repeated. Where the loader has no paths that are long enough (those of
 * Debian and Ubuntu are, those of other distributions are not), the programs stay as they are, and this says so.
 *
 * A constant: the text is part of what makes an installation the same. Pure.
 */

/** A program of Node, without a single quote. Its argument: the directory of the installed pack. */
export const OWN_LIBC = `
const fs = require("fs"), path = require("path"), { spawnSync } = require("child_process");
const place = process.argv[1], libc = place + "/libc", own = libc + "/ld";
const bytesOf = (fd, at, size) => {
  const bytes = Buffer.alloc(size);
  return bytes.subarray(0, fs.readSync(fd, bytes, 0, size, at));
};
const lookInto = (file) => {
  const fd = fs.openSync(file, "r");
  try {
    const head = bytesOf(fd, 0, 64);
    if (head.length < 64 || head.toString("latin1", 0, 6) !== "\\x7fELF\\x02\\x01") return null;
    const size = head.readUInt16LE(54), table = bytesOf(fd, Number(head.readBigUInt64LE(32)), size * head.readUInt16LE(56));
    for (let at = 0; at + 56 <= table.length; at += size) {
      if (table.readUInt32LE(at) !== 3) continue;
      const start = Number(table.readBigUInt64LE(at + 8));
      const [loader] = bytesOf(fd, start, Number(table.readBigUInt64LE(at + 32))).toString("latin1").split("\\0");
      return { file, start, loader };
    }
    return { file, loader: null };
  } finally {
    fs.closeSync(fd);
  }
};
const filesIn = (directory) => fs.readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
  const file = path.join(directory, entry.name);
  return entry.isDirectory() ? filesIn(file) : entry.isFile() ? [file] : [];
});
const { loader = null } = lookInto(process.execPath) ?? {};
const found = filesIn(place + "/lib").map(lookInto).filter((one) => one !== null && (one.loader === null || one.loader === loader));
const programs = found.filter((one) => one.loader !== null);
const overwritten = (from, to) => to.replace(/(?=[^/]+[/]?$)/, "/".repeat(from.length - to.length));
const text = loader === null ? "" : fs.readFileSync(loader, "latin1");
const searched = /((?:[/]usr)?[/]lib[/][a-z0-9_]+-linux-gnu[/]\\0){2}[/]lib[/]\\0[/]usr[/]lib[/]\\0/g;
const directories = [...text.matchAll(searched)].flatMap(([all]) => all.split("\\0").filter((one) => one.includes("-linux-gnu")));
const fits = directories.length > 0 && loader.length >= own.length && directories.every((one) => one.length > libc.length);
if (!fits && programs.length > 0)
  console.log("The C library of this image cannot be kept with the agent: its programs need that of the image in which they run.");
if (fits && programs.length > 0) {
  const libraries = new Map();
  for (let at = 0; at < found.length; at += 500) {
    const { stdout } = spawnSync("ldd", found.slice(at, at + 500).map(({ file }) => file), { encoding: "utf8" });
    for (const [, name, file] of (stdout ?? "").matchAll(/(\\S+) => ([/]\\S+) [(]/g))
      if (!file.startsWith(place + "/")) libraries.set(name, file);
  }
  if (!libraries.has("libc.so.6")) throw new Error("ldd does not say where the C library of this image is");
  for (const name of ["dl.so.2", "pthread.so.0", "rt.so.1", "util.so.1", "anl.so.1", "resolv.so.2", "nss_dns.so.2", "nss_files.so.2"]) {
    const file = path.dirname(libraries.get("libc.so.6")) + "/lib" + name;
    if (fs.existsSync(file)) libraries.set("lib" + name, file);
  }
  fs.mkdirSync(libc, { recursive: true });
  for (const [name, file] of libraries) fs.copyFileSync(file, libc + "/" + name);
  const ours = text
    .replace(searched, (all) => all.split("\\0").map((one) => one === "" ? "" : overwritten(one, one.includes("-linux-gnu") ? libc + "/" : "/dev/")).join("\\0"))
    .replaceAll("/etc/ld.so.", "/dev/null/.");
  fs.writeFileSync(own, ours, { encoding: "latin1", mode: 0o755 });
  for (const { file, start } of programs) {
    const fd = fs.openSync(file, "r+");
    fs.writeSync(fd, overwritten(loader, own), start, "latin1");
    fs.closeSync(fd);
  }
}
`.trim();
