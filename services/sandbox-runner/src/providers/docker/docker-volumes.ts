/** The named volumes of the engine. */
import type Docker from "dockerode";
import { call, statusOf } from "./docker-call.ts";
import type { Engine, Volume } from "./docker-engine.ts";

/** The engine removes the files of a volume before it answers: minutes for 100,000 of them on a busy disk. */
const VOLUME_REMOVAL_MS = 300_000;

export function volumeCalls(
  docker: Docker,
): Pick<Engine, "createVolume" | "volume" | "volumes" | "removeVolume"> {
  return {
    createVolume: async (name, labels) => {
      await call("create volume", docker.createVolume({ Name: name, Driver: "local", Labels: labels }));
      return volumeOf(await call("inspect volume", docker.getVolume(name).inspect()));
    },
    volume: async (name) => {
      try {
        return volumeOf(await call("inspect volume", docker.getVolume(name).inspect()));
      } catch (error) {
        if (statusOf(error) === 404) return null;
        throw error;
      }
    },
    volumes: async (prefix) => {
      // The engine's filter finds names that contain the text.
      const found = await call("list volumes", docker.listVolumes({ filters: { name: [prefix] } }));
      return found.Volumes.filter(({ Name }) => Name.startsWith(prefix)).map(volumeOf);
    },
    removeVolume: async (name) => {
      try {
        await call("remove volume", docker.getVolume(name).remove(), VOLUME_REMOVAL_MS);
        return "removed";
      } catch (error) {
        if (statusOf(error) === 404) return "removed";
        if (statusOf(error) === 409) return "in-use";
        throw error;
      }
    },
  };
}

type EngineVolume = Docker.VolumeInspectInfo & { readonly CreatedAt?: string };

/** The engine gives no labels for a volume without any, whatever its types say. */
function volumeOf({ Name, Mountpoint, Labels, CreatedAt }: EngineVolume): Volume {
  const labels = (Labels as Record<string, string> | null) ?? {};
  return { name: Name, path: Mountpoint, labels, createdMs: Date.parse(CreatedAt ?? "") || 0 };
}
