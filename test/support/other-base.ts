/**
 * A sandbox image of another base than the standard one: another release of Debian, with other versions of everything. It is
 * made once (setup/other-base.mjs) and found again by later tests.
 */
import { fileURLToPath } from "node:url";

export interface OtherBase {
  readonly ref: string;
  readonly id: string;
}

export async function makeOtherBase(): Promise<OtherBase> {
  const setup = fileURLToPath(new URL("../../setup/other-base.mjs", import.meta.url));
  const { ensureOtherBase } = (await import(setup)) as {
    ensureOtherBase: (context: { note: (text: string) => void }) => Promise<OtherBase>;
  };
  try {
    return await ensureOtherBase({ note: () => undefined });
  } catch (error) {
    throw new Error(`no image of another base: ${(error as Error).message}`, { cause: error });
  }
}
