/**
 * The last step of installing locked packages of PyPI: they get a Python of their own, that of the image in which they are
 * installed, with its library and all that it loads, the C library and its loader among them. So they need none of the
 * image in which they run, not even its C library.
 *
 * The loader is told on its command line where the libraries are. So no variable is set for it that the agent's commands would
 * inherit, and these find the image's Python, or none. What the image loads into each program (`LD_PRELOAD`) may be made for
 * another C library, so the agent and its commands do without. Only the packages that the pack names get their programs in `bin`.
 *
 * A constant: the text is part of what makes an installation the same. Pure.
 */

/** A program of Python, without a single quote. Its arguments: the directory of the installed pack, and the pack's own packages. */
export const OWN_PYTHON = `
import glob, importlib.metadata, os, re, shutil, subprocess, sys
place, *packages = sys.argv[1:]
python, libraries, venv = place + "/runtime/python", place + "/runtime/libraries", place + "/python"
name = "python%d.%d" % sys.version_info[:2]
library = "/".join([python, sys.platlibdir, name])
def write(file, line):
    os.makedirs(os.path.dirname(file), exist_ok=True)
    if os.path.lexists(file):
        os.unlink(file)
    with open(file, "w") as out:
        out.write("#!/bin/sh\\nunset LD_PRELOAD\\nexec " + line + "\\n")
    os.chmod(file, 0o755)
left_out = shutil.ignore_patterns("test", "idlelib", "tkinter", "turtledemo", "ensurepip", "config-*", "site-packages", "dist-packages")
shutil.copytree(os.path.dirname(os.__file__), library, ignore=left_out, ignore_dangling_symlinks=True, dirs_exist_ok=True)
for compiled in sys.path:
    if os.path.basename(compiled) == "lib-dynload":
        shutil.copytree(compiled, library + "/lib-dynload", dirs_exist_ok=True)
shutil.copy2(os.path.realpath(sys.executable), python + "/program")
files = [python + "/program"] + [file for top in (library, venv) for file in glob.glob(top + "/**/*.so*", recursive=True)]
told = "".join(subprocess.run(["ldd", *files[at:at + 500]], capture_output=True, text=True).stdout for at in range(0, len(files), 500))
loader = re.search(r"^\\s+(/\\S*/ld-linux\\S*) \\(", told, re.M)
if loader is None:
    raise SystemExit("the Python of this image is not one for glibc")
os.makedirs(libraries, exist_ok=True)
found = dict(re.findall(r"(\\S+) => (/\\S+) \\(", told))
# The C library loads it when a thread ends.
found.update({"libgcc_s.so.1": file for file in (os.path.dirname(one) + "/libgcc_s.so.1" for one in [*found.values()]) if os.path.exists(file)})
for needed, file in found.items():
    if not file.startswith(place + "/"):
        shutil.copyfile(file, libraries + "/" + needed)
loads = libraries + "/" + os.path.basename(loader[1])
shutil.copyfile(loader[1], loads)
os.chmod(loads, 0o755)
starts = loads + " --inhibit-cache --library-path " + libraries + " --argv0 \\"$0\\" " + python + "/program -E \\"$@\\""
for file in (python + "/bin/python3", venv + "/bin/python", venv + "/bin/python3", venv + "/bin/" + name):
    write(file, starts)
with open(venv + "/pyvenv.cfg", "w") as out:
    out.write("home = " + python + "/bin\\ninclude-system-site-packages = false\\nversion = " + sys.version.split()[0] + "\\n")
for package in packages:
    for program in importlib.metadata.distribution(package).entry_points.select(group="console_scripts"):
        write(place + "/bin/" + program.name, venv + "/bin/python3 " + venv + "/bin/" + program.name + " \\"$@\\"")
own = subprocess.run([venv + "/bin/python3", "-c", "import ssl, sys; print(sys.prefix, sys.base_prefix)"], capture_output=True, text=True)
if own.stdout.split() != [venv, python]:
    raise SystemExit("the Python of this image does not start from a copy: " + own.stdout + own.stderr)
`.trim();
