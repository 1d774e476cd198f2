/**
 * What package managers and compilers do over an environment that belongs to nobody: install, upgrade, remove and rebuild in
 * it. The packages are made here, so nothing is downloaded.
 */
import { createHash } from "node:crypto";
import { afterAll, afterEach, expect, it } from "vitest";
import type { Sandbox } from "../../../services/sandbox-runner/src/ports.ts";
import { shell, testEngine } from "../../support/docker.ts";
import { patient } from "../../support/patience.ts";

const MiB = 2 ** 20;
const test = testEngine("environment-tools");
const over = { kind: "canceled", reason: "test over" } as const;
const ROOM = { workspaceBytes: 256 * MiB, tmpBytes: 256 * MiB, memoryBytes: 1024 * MiB };
const PACK = "tar --hard-dereference -cf - -C / workspace --transform=s,^tmp/,, tmp/home";
const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/tmp/home", LANG: "C.UTF-8" };

afterEach(() => test.expectNoContainers(20_000));
afterAll(() => test.removeLayers());

async function ran(sandbox: Sandbox, script: string): Promise<string> {
  const options = { env, timeoutMs: 120_000 };
  const { exitCode, stdout, stderr } = await sandbox.run(shell(`set -e; ${script}`, options));
  if (exitCode !== 0) throw new Error(`exit ${exitCode}: ${stdout.tail}${stderr.tail}`);
  return stdout.tail;
}

/** Runs `setup` in one sandbox, and `use` in another that is mounted over what it made. */
async function overEnvironment(setup: string, use: string): Promise<string> {
  const order = await test.order(ROOM);
  const pieces: Buffer[] = [];
  const base = await test.provider.start(order);
  try {
    await ran(base, `mkdir -p $HOME; ${setup}`);
    await base.run(
      shell(PACK, {
        onOutput: (stream, piece) => {
          if (stream === "stdout") pieces.push(Buffer.from(piece));
        },
      }),
    );
  } finally {
    await base.destroy(over);
  }
  const environment = createHash("sha256").update(Buffer.concat(pieces)).digest("hex");
  async function* tar(): AsyncGenerator<Buffer> {
    for (const piece of pieces) yield await Promise.resolve(piece);
  }
  await test.provider.layers?.fill({ kind: "environment", digest: environment }, tar);
  const sandbox = await test.provider.start({ ...order, layers: { tree: null, environment } });
  try {
    return await ran(sandbox, `ln -sfn ${sandbox.home} $HOME; test ! -O ${sandbox.home}/.owner; ${use}`);
  } finally {
    await sandbox.destroy(over);
  }
}

const NPM = "--offline --no-audit --no-fund";
const npmPackage = (name: string): string =>
  `mkdir -p /tmp/${name} && cd /tmp/${name} && echo '{"name":"${name}","version":"1.0.0","bin":"cli.js"}' > package.json && ` +
  `printf '#!/usr/bin/env node\\nconsole.log("${name}")\\n' > cli.js && npm pack --silent --pack-destination /workspace > /dev/null`;

const WHEELS = `python3 - <<'END'
import zipfile
for version in ("1", "2"):
    wheel = zipfile.ZipFile(f"two-{version}-py3-none-any.whl", "w")
    info = f"two-{version}.dist-info/"
    wheel.writestr("two.py", f"def main(): print({version})\\n")
    wheel.writestr(info + "METADATA", f"Metadata-Version: 2.1\\nName: two\\nVersion: {version}\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "entry_points.txt", "[console_scripts]\\ntwo=two:main\\n")
    wheel.writestr(info + "RECORD", "")
END`;

it(
  "npm rebuilds, installs one more package, replaces one, removes one and installs all anew",
  async () => {
    const setup = `${npmPackage("one")}; ${npmPackage("two")}; cd /workspace; echo '{"name":"app"}' > package.json; npm install ${NPM} ./one-1.0.0.tgz; touch $HOME/.owner`;
    const use =
      `npm rebuild ${NPM} >&2; npm install ${NPM} ./two-1.0.0.tgz >&2; npx --no-install one; npx --no-install two; ` +
      `npm install ${NPM} --force ./one-1.0.0.tgz >&2; npm uninstall ${NPM} one >&2; npm ci ${NPM} >&2; ls node_modules`;
    expect(await overEnvironment(setup, use)).toBe("one\ntwo\ntwo\n");
  },
  patient(180_000),
);

it(
  "pip upgrades, replaces and removes a package, and Python compiles the others",
  async () => {
    const pip = ".venv/bin/pip install -q --no-index --disable-pip-version-check";
    const setup = `python3 -m venv .venv; ${WHEELS}\n${pip} ./two-1-*.whl; touch $HOME/.owner`;
    const use =
      `.venv/bin/two; ${pip} --upgrade ./two-2-*.whl; .venv/bin/two; ${pip} --force-reinstall ./two-1-*.whl; .venv/bin/two; ` +
      ".venv/bin/pip uninstall -q -y two; .venv/bin/python -m compileall -q -f .venv/lib/python3*/site-packages/pip/_internal/cli; echo compiled";
    expect(await overEnvironment(setup, use)).toBe("1\n2\n1\ncompiled\n");
  },
  patient(180_000),
);

it(
  "make builds again what setup had built, and cp and install replace it",
  async () => {
    const makefile = "printf 'out/a: in\\n\\tmkdir -p out\\n\\tcp in out/a\\n' > Makefile";
    const setup = `${makefile}; echo 1 > in; make; touch $HOME/.owner`;
    const use =
      "echo 2 > in; make >&2; cat out/a; install -m 755 in out/a; test -x out/a; rm -r out; make >&2; cat out/a";
    expect(await overEnvironment(setup, use)).toBe("2\n2\n");
  },
  patient(60_000),
);
