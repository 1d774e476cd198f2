import { describe, expect, it } from "vitest";
import type { ContainerSpec, ImageFacts } from "../ports.ts";
import { createBody, differences, type InspectedContainer } from "./container-spec.ts";
import type { Json } from "./engine-json.ts";

const spec: ContainerSpec = {
  imageId: "sha256:abc",
  limits: {
    memoryBytes: 1000,
    swapBytes: 0,
    cpus: 1.5,
    pids: 10,
    workspaceBytes: 2000,
    workspaceInodes: 20,
    tmpBytes: 3000,
    tmpInodes: 30,
    runtime: "runc",
  },
  labels: { "antiphon.instance": "i" },
  uid: 60_721,
  workspace: { kind: "memory" },
};
const environment = { entrypoint: ["/bin/sh", "-c"], command: ["run", "antiphon"], seccomp: "{}" };
const image: ImageFacts = { id: "sha256:abc", env: ["PATH=/bin", "NODE_VERSION=20"], volumes: [] };

/** The engine's answer for a container that is as it was asked for. */
function inspected(
  changes: { config?: Record<string, Json>; host?: Record<string, Json>; mounts?: Json[] } = {},
): InspectedContainer {
  const body = createBody(spec, environment);
  return {
    Image: spec.imageId,
    Config: { ...body, Env: image.env, ...changes.config },
    HostConfig: { ...body.HostConfig, Binds: null, ShmSize: 67108864, CgroupnsMode: "host", ...changes.host },
    Mounts: changes.mounts ?? [],
  };
}

describe("a container whose workspace may be partly on disk", () => {
  const own = { ...spec, limits: { ...spec.limits, swapBytes: 500 } };

  it("sandbox-runner/S1: asks for nothing more than a limit of memory and swap together", () => {
    const { HostConfig, ...rest } = createBody(own, environment);
    const { HostConfig: host, ...others } = createBody(spec, environment);
    expect(rest).toEqual(others);
    expect(host["MemorySwap"]).toBe(1000);
    expect(HostConfig).toEqual({ ...host, MemorySwap: 1500 });
  });

  it.each([-1, 0, 1000, 1501])("sandbox-runner/S1: is refused when the engine's limit is %s", (limit) => {
    const body = createBody(own, environment);
    const actual = {
      Image: spec.imageId,
      Config: { ...body, Env: image.env },
      HostConfig: { ...body.HostConfig, MemorySwap: limit },
      Mounts: [],
    };
    expect(differences(own, environment, image, actual)).toEqual([`HostConfig.MemorySwap is ${limit}`]);
  });
});

describe("a service's container", () => {
  const own = { ...spec, beside: "0123", tmpfs: ["/var/lib/db"] };

  it("sandbox-runner/S1: differs from a sandbox in its network, its name and its directories in memory only", () => {
    const { HostConfig, Hostname, ...rest } = createBody(own, environment);
    const { HostConfig: host, Hostname: _, ...others } = createBody(spec, environment);
    expect([rest, Hostname]).toEqual([others, ""]);
    expect(HostConfig).toEqual({
      ...host,
      NetworkMode: "container:0123",
      Tmpfs: {
        ...(host["Tmpfs"] as Record<string, string>),
        "/var/lib/db": "rw,exec,nosuid,nodev,size=3000,nr_inodes=30,mode=0700,uid=60721,gid=60721",
      },
    });
  });

  it.each([
    ["shares the network of another container", { NetworkMode: "container:4567" }, {}],
    ["has the host's network", { NetworkMode: "host" }, {}],
    ["has a volume of its image that is not in memory", {}, { Volumes: { "/var/lib/db": {}, "/other": {} } }],
  ])("sandbox-runner/S1: is refused when it %s", (_name, host, config) => {
    const body = createBody(own, environment);
    const actual: InspectedContainer = {
      Image: own.imageId,
      Config: { ...body, Env: image.env, Volumes: { "/var/lib/db": {} }, ...config },
      HostConfig: { ...body.HostConfig, ...host },
      Mounts: [],
    };
    expect(differences(own, environment, image, actual)).toHaveLength(1);
  });
});

describe("the container that the engine is asked for", () => {
  it("sandbox-runner/S1: has exactly these settings", () => {
    expect(createBody(spec, environment)).toMatchInlineSnapshot(`
      {
        "AttachStderr": true,
        "AttachStdin": true,
        "AttachStdout": true,
        "Cmd": [
          "run",
          "antiphon",
        ],
        "Domainname": "",
        "Entrypoint": [
          "/bin/sh",
          "-c",
        ],
        "Env": [],
        "Healthcheck": {
          "Test": [
            "NONE",
          ],
        },
        "HostConfig": {
          "AutoRemove": true,
          "CapDrop": [
            "ALL",
          ],
          "Init": false,
          "IpcMode": "none",
          "LogConfig": {
            "Config": {},
            "Type": "none",
          },
          "Memory": 1000,
          "MemorySwap": 1000,
          "NanoCpus": 1500000000,
          "NetworkMode": "none",
          "OomKillDisable": false,
          "PidMode": "",
          "PidsLimit": 10,
          "Privileged": false,
          "ReadonlyRootfs": true,
          "RestartPolicy": {
            "MaximumRetryCount": 0,
            "Name": "no",
          },
          "Runtime": "runc",
          "SecurityOpt": [
            "no-new-privileges",
            "seccomp={}",
          ],
          "Tmpfs": {
            "/dev/shm": "rw,noexec,nosuid,nodev,size=67108864,nr_inodes=4096,mode=0700,uid=60721,gid=60721",
            "/tmp": "rw,exec,nosuid,nodev,size=3000,nr_inodes=30,mode=0700,uid=60721,gid=60721",
            "/workspace": "rw,exec,nosuid,nodev,size=2000,nr_inodes=20,mode=0700,uid=60721,gid=60721",
          },
          "UTSMode": "",
          "Ulimits": [
            {
              "Hard": 0,
              "Name": "core",
              "Soft": 0,
            },
            {
              "Hard": 65536,
              "Name": "memlock",
              "Soft": 65536,
            },
            {
              "Hard": 0,
              "Name": "msgqueue",
              "Soft": 0,
            },
            {
              "Hard": 4096,
              "Name": "nofile",
              "Soft": 4096,
            },
          ],
        },
        "Hostname": "sandbox",
        "Image": "sha256:abc",
        "Labels": {
          "antiphon.instance": "i",
          "antiphon.uid": "60721",
        },
        "NetworkDisabled": false,
        "OpenStdin": true,
        "StdinOnce": true,
        "Tty": false,
        "User": "60721:60721",
        "WorkingDir": "/workspace",
      }
    `);
  });

  it("equals the engine's own description of it", () => {
    expect(differences(spec, environment, image, inspected())).toEqual([]);
  });

  const others: readonly (readonly [string, Parameters<typeof inspected>[0]])[] = [
    ["another user", { config: { User: "0:0" } }],
    ["another command", { config: { Cmd: ["sh"] } }],
    ["another entrypoint", { config: { Entrypoint: null } }],
    ["a terminal", { config: { Tty: true } }],
    ["an environment variable the image does not have", { config: { Env: ["PATH=/bin", "TOKEN=1"] } }],
    ["an image volume", { config: { Volumes: { "/data": {} } } }],
    ["another label", { config: { Labels: { "antiphon.uid": "60721", "antiphon.instance": "j" } } }],
    ["a capability added", { host: { CapAdd: ["SYS_ADMIN"] } }],
    ["no capability dropped", { host: { CapDrop: null } }],
    ["privilege", { host: { Privileged: true } }],
    ["a bind", { host: { Binds: ["/:/host"] } }],
    ["a mount", { mounts: [{ Type: "volume" }] }],
    ["mounts of another form", { host: { Mounts: [{ Type: "bind" }] } }],
    ["volumes from elsewhere", { host: { VolumesFrom: ["x"] } }],
    ["a device", { host: { Devices: [{ PathOnHost: "/dev/kvm" }] } }],
    ["a device rule", { host: { DeviceCgroupRules: ["a *:* rwm"] } }],
    ["a device request", { host: { DeviceRequests: [{ Count: -1 }] } }],
    ["a network", { host: { NetworkMode: "bridge" } }],
    ["a published port", { host: { PortBindings: { "80/tcp": [] } } }],
    ["a link", { host: { Links: ["db"] } }],
    ["a name server", { host: { Dns: ["1.1.1.1"] } }],
    ["an extra host", { host: { ExtraHosts: ["a:1.2.3.4"] } }],
    ["the host's processes", { host: { PidMode: "host" } }],
    ["the host's IPC", { host: { IpcMode: "host" } }],
    ["the host's UTS", { host: { UTSMode: "host" } }],
    ["the host's users", { host: { UsernsMode: "host" } }],
    ["the host's cgroup", { host: { CgroupParent: "/" } }],
    ["a writable root", { host: { ReadonlyRootfs: false } }],
    ["no seccomp profile", { host: { SecurityOpt: ["no-new-privileges"] } }],
    ["an unconfined profile", { host: { SecurityOpt: ["no-new-privileges", "seccomp=unconfined"] } }],
    ["a larger memory", { host: { Memory: 2000 } }],
    ["swap", { host: { MemorySwap: -1 } }],
    ["no OOM killer", { host: { OomKillDisable: true } }],
    ["no process limit", { host: { PidsLimit: null } }],
    ["another size of /workspace", { host: { Tmpfs: { "/workspace": "rw" } } }],
    ["a larger shared memory", { host: { ShmSize: 1e12 } }],
    ["unmasked /proc", { host: { MaskedPaths: [] } }],
    ["writable /proc/sys", { host: { ReadonlyPaths: null } }],
    ["another runtime", { host: { Runtime: "other" } }],
    ["a kernel parameter", { host: { Sysctls: { "net.ipv4.ip_forward": "1" } } }],
    ["a log driver", { host: { LogConfig: { Type: "json-file", Config: {} } } }],
    ["a restart policy", { host: { RestartPolicy: { Name: "always", MaximumRetryCount: 0 } } }],
    ["an init beside the supervisor", { host: { Init: true } }],
    ["an unknown field", { host: { FutureEscape: "on" } }],
  ];
  it.each(others)("sandbox-runner/S1: %s is a difference", (_name, changes) => {
    expect(differences(spec, environment, image, inspected(changes))).toHaveLength(1);
  });

  it("a missing field and another image are differences, too", () => {
    const actual = inspected();
    const { PidsLimit: _left, ...host } = actual.HostConfig;
    expect(differences(spec, environment, image, { ...actual, HostConfig: host })).toEqual([
      "HostConfig.PidsLimit is missing",
    ]);
    expect(differences(spec, environment, image, { ...actual, Image: "sha256:other" })).toHaveLength(1);
  });

  it("sandbox-runner/S1: only a sandbox over an environment has a further group, and only that of environments", () => {
    const volume = { name: "v", path: "/v/_data" };
    const over = (environment: { workspace: typeof volume; home: typeof volume } | null) => ({
      ...spec,
      workspace: { kind: "layers", top: "/top/_data", tree: volume, environment } as const,
    });
    const layered = over({ workspace: volume, home: volume });
    const { HostConfig } = createBody(layered, environment);
    expect(HostConfig["GroupAdd"]).toEqual(["61183"]);
    for (const GroupAdd of [["0"], ["61183", "0"], null]) {
      const actual = { ...inspected(), HostConfig: { ...HostConfig, GroupAdd } };
      expect(differences(layered, environment, image, actual)).toContain(
        `HostConfig.GroupAdd is ${JSON.stringify(GroupAdd)}`,
      );
    }
    for (const plain of [over(null), spec]) {
      expect(createBody(plain, environment).HostConfig).not.toHaveProperty("GroupAdd");
      const actual = inspected({ host: { GroupAdd: ["61183"] } });
      expect(differences(plain, environment, image, actual).join()).toContain("HostConfig.GroupAdd");
    }
  });

  it("has the engine's hosts unless it only keeps or unpacks files, and no network either way", () => {
    const kinds = [
      { kind: "memory" },
      { kind: "top" },
      { kind: "fill", volume: "v", shared: true },
      { kind: "layers", top: "t", tree: null, environment: null },
    ] as const;
    const bodies = kinds.map((workspace) => createBody({ ...spec, workspace }, environment));
    expect(bodies.map(({ NetworkDisabled }) => NetworkDisabled)).toEqual([false, true, true, false]);
    expect(new Set(bodies.map(({ HostConfig }) => HostConfig["NetworkMode"]))).toEqual(new Set(["none"]));
  });

  it("only a layer for several users belongs to their group", () => {
    const filling = (shared: boolean) => ({ kind: "fill", volume: "v", shared }) as const;
    const user = (shared: boolean) =>
      createBody({ ...spec, workspace: filling(shared) }, environment)["User"];
    expect([user(true), user(false)]).toEqual(["60721:61183", "60721:60721"]);
  });

  it("gVisor gets a higher task limit, because it uses several tasks of the host for each process inside", () => {
    const runsc = createBody({ ...spec, limits: { ...spec.limits, runtime: "runsc" } }, environment);
    expect(runsc.HostConfig.PidsLimit).toBe(16 * spec.limits.pids);
  });
});
