import { expect, it } from "vitest";
import { AntiphonError } from "@antiphon/contracts";
import { defaultLimits } from "../job-limits.ts";
import type { Sandbox } from "../ports.ts";
import { swapGrant, swapTotal, withSwap } from "./swap-grant.ts";

const GiB = 1024 ** 3;
const MEMINFO =
  "MemTotal:       24684028 kB\nSwapCached:            1 kB\nSwapTotal:       8388608 kB\nSwapFree: 1 kB\n";

/** A sandbox that has this file, and tells whether it was destroyed. */
function machine(meminfo: string) {
  const seen = { destroyed: 0, asked: [] as number[] };
  const sandbox = {
    run: () => Promise.resolve({ stdout: { bytes: Buffer.from(meminfo) } }),
    destroy: () => Promise.resolve(void (seen.destroyed += 1)),
  } as unknown as Sandbox;
  const trial = (bytes: number): Promise<Sandbox> => {
    seen.asked.push(bytes);
    return Promise.resolve(sandbox);
  };
  return { seen, trial };
}

it("reads the swap of a machine, or none", () => {
  expect([swapTotal(MEMINFO), swapTotal(""), swapTotal("SwapTotal: x\n")]).toEqual([8 * GiB, 0, 0]);
});

it("asks nothing where no swap is wanted", async () => {
  const { seen, trial } = machine(MEMINFO);
  expect(await swapGrant({ bytes: 0, slots: 4, fault: null, trial })).toEqual({ bytes: 0, why: null });
  expect(seen.asked).toEqual([]);
});

it("grants swap that every sandbox can have at the same time, and none otherwise", async () => {
  const { seen, trial } = machine(MEMINFO);
  expect(await swapGrant({ bytes: 2 * GiB, slots: 4, fault: null, trial })).toEqual({
    bytes: 2 * GiB,
    why: null,
  });
  const refused = await swapGrant({ bytes: 2 * GiB, slots: 5, fault: null, trial });
  expect(refused).toMatchObject({
    bytes: 0,
    why: expect.stringMatching(/8589934592 bytes of swap, and 5/) as string,
  });
  expect(seen).toEqual({ destroyed: 2, asked: [2 * GiB, 2 * GiB] });
});

it("asks nothing of a provider that cannot", async () => {
  const { seen, trial } = machine(MEMINFO);
  const fault = "the provider e2b takes no swap";
  expect(await swapGrant({ bytes: GiB, slots: 1, fault, trial })).toEqual({ bytes: 0, why: fault });
  expect(seen.asked).toEqual([]);
});

it("grants none where the engine cannot limit it, and says why", async () => {
  const trial = (): Promise<Sandbox> =>
    Promise.reject(new AntiphonError("ANT_SANDBOX_FAILED", "HostConfig.MemorySwap is -1"));
  expect(await swapGrant({ bytes: GiB, slots: 1, fault: null, trial })).toEqual({
    bytes: 0,
    why: "HostConfig.MemorySwap is -1",
  });
});

it("changes no limit where none is granted, and otherwise those of swap and of the workspace alone", () => {
  const limits = defaultLimits("runc");
  expect(withSwap(limits, 0)).toEqual(limits);
  const workspaceBytes = limits.workspaceBytes + GiB;
  expect(withSwap(limits, GiB)).toEqual({ ...limits, swapBytes: GiB, workspaceBytes });
});
