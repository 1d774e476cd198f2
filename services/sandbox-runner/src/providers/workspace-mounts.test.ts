import { describe, expect, it } from "vitest";
import type { ContainerLimits, WorkspaceSource } from "../ports.ts";
import type { Json } from "./engine-json.ts";
import { isPlainPath, memoryOf, mountDifferences, mountsOf, type Mounted } from "./workspace-mounts.ts";

const limits: ContainerLimits = {
  memoryBytes: 1000,
  cpus: 1,
  pids: 10,
  swapBytes: 0,
  workspaceBytes: 2000,
  workspaceInodes: 20,
  tmpBytes: 3000,
  tmpInodes: 30,
  runtime: "runc",
};
const volume = (name: string) => ({ name, path: `/v/${name}/_data` });
const layers: WorkspaceSource = {
  kind: "layers",
  top: "/v/top/_data",
  tree: volume("t"),
  environment: { workspace: volume("w"), home: volume("h") },
};

const mounted = (workspace: WorkspaceSource): Mounted => ({ workspace, limits, uid: 60_721 });

/** The engine's list for mounts that are as they were asked for. */
function listed(source: WorkspaceSource): Record<string, Json>[] {
  return mountsOf(mounted(source)).map((mount, at) => {
    const { Source: source } = mount;
    const name = typeof source === "string" ? source : `${at}`.padStart(64, "0");
    const path = `/v/${name}/_data`;
    const isWritable = mount["ReadOnly"] !== true;
    const { Type, Target } = mount;
    return {
      Type,
      Name: name,
      Source: path,
      Destination: Target,
      Driver: "local",
      Mode: "z",
      RW: isWritable,
    };
  });
}

describe("the mounts of a sandbox", () => {
  it("sandbox-runner/S1: over layers are exactly these", () => {
    const [workspace, home, upper, ...lowers] = mountsOf(mounted(layers));
    const options = "redirect_dir=off,metacopy=off,index=off,xino=off";
    const overlay = (o: string) => ({
      NoCopy: true,
      DriverConfig: { Name: "local", Options: { type: "overlay", device: "overlay", o: `${o},${options}` } },
    });
    expect(workspace).toEqual({
      Type: "volume",
      Target: "/workspace",
      VolumeOptions: overlay(
        "nosuid,nodev,lowerdir=/v/t/_data:/v/w/_data,upperdir=/v/top/_data/files,workdir=/v/top/_data/files.work",
      ),
    });
    expect(home).toEqual({
      Type: "volume",
      Target: "/home/sandbox",
      VolumeOptions: overlay(
        "nosuid,nodev,lowerdir=/v/h/_data,upperdir=/v/top/_data/home,workdir=/v/top/_data/home.work",
      ),
    });
    expect(upper).toMatchObject({
      Target: "/run/antiphon/upper",
      VolumeOptions: {
        DriverConfig: { Options: { type: "none", device: "/v/top/_data/files", o: "bind,ro,nosuid,nodev" } },
      },
    });
    expect(lowers.map(({ Source, ReadOnly, Target }) => [Source, ReadOnly, Target])).toEqual([
      ["t", true, "/run/antiphon/layers/0"],
      ["w", true, "/run/antiphon/layers/1"],
      ["h", true, "/run/antiphon/layers/2"],
    ]);
    expect(memoryOf(mounted(layers))).toEqual({
      "/tmp": expect.stringContaining("size=3000") as string,
      "/run/antiphon/layers": "ro,noexec,nosuid,nodev,size=4096,mode=0700",
    });
  });

  it("in memory are none, and a top and a new layer have one", () => {
    expect(mountsOf(mounted({ kind: "memory" }))).toEqual([]);
    expect(Object.keys(memoryOf(mounted({ kind: "memory" })))).toEqual(["/workspace", "/tmp"]);
    const [top] = mountsOf(mounted({ kind: "top" }));
    expect(JSON.stringify(top)).toContain(
      "nosuid,nodev,size=2000,nr_inodes=20,mode=0700,uid=60721,gid=60721",
    );
    expect(Object.keys(memoryOf(mounted({ kind: "top" })))).toEqual(["/tmp"]);
    expect(mountsOf(mounted({ kind: "fill", volume: "new", shared: true }))).toEqual([
      { Type: "volume", Source: "new", Target: "/tmp" },
    ]);
    expect(Object.keys(memoryOf(mounted({ kind: "fill", volume: "new", shared: true })))).toEqual([
      "/workspace",
    ]);
  });

  it.each([
    { kind: "memory" },
    { kind: "top" },
    { kind: "fill", volume: "new", shared: true },
    layers,
  ] as const)("equal the engine's own list of them: $kind", (source) => {
    expect(mountDifferences(mounted(source), listed(source))).toEqual([]);
  });

  it.each([
    ["one more", (all: Record<string, Json>[]) => [...all, { Type: "bind", Destination: "/host" }]],
    ["one less", (all: Record<string, Json>[]) => all.slice(1)],
    ["a bind", (all: Record<string, Json>[]) => [{ ...all[0], Type: "bind" }, ...all.slice(1)]],
    ["another driver", (all: Record<string, Json>[]) => [{ ...all[0], Driver: "nfs" }, ...all.slice(1)]],
    [
      "a named volume for a nameless one",
      (all: Record<string, Json>[]) => [{ ...all[0], Name: "x" }, ...all.slice(1)],
    ],
    ["another place", (all: Record<string, Json>[]) => [{ ...all[0], Destination: "/etc" }, ...all.slice(1)]],
    [
      "a layer that can be written",
      (all: Record<string, Json>[]) => [...all.slice(0, -1), { ...all.at(-1), RW: true }],
    ],
    ["another layer", (all: Record<string, Json>[]) => [...all.slice(0, -1), { ...all.at(-1), Name: "w" }]],
    [
      "a layer elsewhere",
      (all: Record<string, Json>[]) => [...all.slice(0, -1), { ...all.at(-1), Source: "/etc" }],
    ],
  ])("sandbox-runner/S1: with %s differ", (_name, change) => {
    expect(mountDifferences(mounted(layers), change(listed(layers)))).toHaveLength(1);
  });

  it("take only paths that cannot be read as options", () => {
    expect(isPlainPath("/var/lib/docker/volumes/x/_data")).toBe(true);
    for (const path of ["/a:b", "/a,b", "/a b", "/a\\b", "relative", ""])
      expect(isPlainPath(path)).toBe(false);
  });
});
