import type { System, SystemOptions } from "../rig/system.ts";
export async function startNaive(_options: SystemOptions): Promise<System> { throw new Error("not yet"); }
