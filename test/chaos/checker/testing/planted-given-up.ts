/** Tasks that were given up as poison without enough faults to explain it (I11). */
import { givenUp, harmed, poisonous, withoutSandbox } from "./healthy-runs.ts";
import type { Plant } from "./plant.ts";
import { together } from "./scene.ts";

export const PLANTED_GIVEN_UP: readonly Plant[] = [
  {
    name: "no sandbox was to be had, and nothing was done to the runners",
    invariant: "I11",
    rule: "outage-without-cause",
    atMost: 1,
    history: () => {
      const scene = withoutSandbox("nofault");
      scene.faults.length = 0;
      harmed(scene, "kill", "director", 0);
      return scene.history();
    },
  },
  {
    name: "a task is given up, and nothing was done to anybody",
    invariant: "I11",
    rule: "given-up-without-cause",
    atMost: 6,
    history: () => givenUp("innocent").history(),
  },
  {
    name: "a task is given up, and only gateways, Routers and Directors were killed",
    invariant: "I11",
    rule: "given-up-without-cause",
    atMost: 6,
    history: () => {
      const scene = givenUp("bystanders");
      for (const role of ["gateway", "router", "director"])
        for (let i = 0; i < 6; i += 1) harmed(scene, "kill", role, 0);
      return scene.history();
    },
  },
  {
    name: "a task is given up after five kills: one loss too many",
    invariant: "I11",
    rule: "given-up-without-cause",
    atMost: 11,
    history: () => {
      const scene = givenUp("onetoomany");
      for (let i = 0; i < 5; i += 1) harmed(scene, "kill", "associate", 0);
      return scene.history();
    },
  },
  {
    name: "a power cut breaks something that stays broken",
    invariant: "I11",
    rule: "given-up-without-cause",
    atMost: 7,
    history: () => {
      const scene = givenUp("afterthecut");
      harmed(scene, "power", null, 500);
      return scene.history();
    },
  },
  {
    name: "a task is given up long after the last fault",
    invariant: "I11",
    rule: "given-up-without-cause",
    atMost: 12,
    history: () => {
      const scene = givenUp("late");
      for (let i = 0; i < 6; i += 1) harmed(scene, "kill", "associate", 0);
      for (const fault of scene.faults) fault.untilMs = fault.fromMs -= 60_000;
      return scene.history();
    },
  },
  {
    name: "another run's poison is held to be its own",
    invariant: "I11",
    rule: "given-up-without-cause",
    atMost: 6,
    history: () => together([poisonous(), givenUp("neighbour")]),
  },
];
