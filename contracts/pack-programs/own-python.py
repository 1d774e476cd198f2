# The last step of installing locked packages of PyPI: they get a Python of their own, that of the image in which they are
# installed, with its library and all that it loads, the C library and its loader among them. So they need none of the
# image in which they run, not even its C library.
# Its arguments: the directory of the installed pack, and the pack's own packages.
#
# The loader is told on its command line where the libraries are. So no variable is set for it that the agent's commands would
# inherit, and these find the image's Python, or none. The libraries that the image loads into each program (`LD_PRELOAD`) may be
# made for another C library, so the agent and its commands do without. Only the packages that the pack names get their programs
# in `bin`.
import glob
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys

place, *packages = sys.argv[1:]
python = place + "/runtime/python"
libraries = place + "/runtime/libraries"
venv = place + "/python"
name = "python%d.%d" % sys.version_info[:2]
library = "/".join([python, sys.platlibdir, name])
FILES_A_CALL = 500
LEFT_OUT = [
    *("test", "idlelib", "tkinter", "turtledemo", "ensurepip"),
    *("config-*", "site-packages", "dist-packages"),
]


def write_program(file, command):
    os.makedirs(os.path.dirname(file), exist_ok=True)
    if os.path.lexists(file):
        os.unlink(file)
    with open(file, "w") as out:
        out.write("#!/bin/sh\nunset LD_PRELOAD\nexec " + command + "\n")
    os.chmod(file, 0o755)


def copy_python():
    shutil.copytree(
        os.path.dirname(os.__file__),
        library,
        ignore=shutil.ignore_patterns(*LEFT_OUT),
        ignore_dangling_symlinks=True,
        dirs_exist_ok=True,
    )
    for compiled in sys.path:
        if os.path.basename(compiled) == "lib-dynload":
            shutil.copytree(compiled, library + "/lib-dynload", dirs_exist_ok=True)
    shutil.copy2(os.path.realpath(sys.executable), python + "/program")


def told_by_ldd(files):
    told = ""
    for at in range(0, len(files), FILES_A_CALL):
        ldd = ["ldd", *files[at : at + FILES_A_CALL]]
        told += subprocess.run(ldd, capture_output=True, text=True).stdout
    return told


def copy_libraries():
    """Returns the copy of the loader."""
    files = [python + "/program"]
    for top in (library, venv):
        files += glob.glob(top + "/**/*.so*", recursive=True)
    told = told_by_ldd(files)
    loader = re.search(r"^\s+(/\S*/ld-linux\S*) \(", told, re.M)
    if loader is None:
        raise SystemExit("the Python of this image is not one for glibc")
    os.makedirs(libraries, exist_ok=True)
    found = dict(re.findall(r"(\S+) => (/\S+) \(", told))
    for one in [*found.values()]:
        # The C library loads it when a thread ends.
        unwinder = os.path.dirname(one) + "/libgcc_s.so.1"
        if os.path.exists(unwinder):
            found["libgcc_s.so.1"] = unwinder
    for needed, file in found.items():
        if not file.startswith(place + "/"):
            shutil.copyfile(file, libraries + "/" + needed)
    own = libraries + "/" + os.path.basename(loader[1])
    shutil.copyfile(loader[1], own)
    os.chmod(own, 0o755)
    return own


copy_python()
loads = copy_libraries() + " --inhibit-cache --library-path " + libraries
starts = loads + ' --argv0 "$0" ' + python + '/program -E "$@"'
for file in (python + "/bin/python3", venv + "/bin/python", venv + "/bin/python3", venv + "/bin/" + name):
    write_program(file, starts)
with open(venv + "/pyvenv.cfg", "w") as out:
    out.write("home = " + python + "/bin\ninclude-system-site-packages = false\n")
    out.write("version = " + sys.version.split()[0] + "\n")
for package in packages:
    entries = importlib.metadata.distribution(package).entry_points
    for program in entries.select(group="console_scripts"):
        run = venv + "/bin/python3 " + venv + "/bin/" + program.name + ' "$@"'
        write_program(place + "/bin/" + program.name, run)
says = "import ssl, sys; print(sys.prefix, sys.base_prefix)"
own = subprocess.run([venv + "/bin/python3", "-c", says], capture_output=True, text=True)
if own.stdout.split() != [venv, python]:
    raise SystemExit("the Python of this image does not start from a copy: " + own.stdout + own.stderr)
