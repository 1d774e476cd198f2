/**
 * The images of a runner: the default that setup built, those that the configuration names, and those that people have
 * allowed.
 *
 * The engine is asked on every use which image a name stands for, and the digest decides whether a sandbox may be made of
 * it (images/image-allowlist.ts). `antiphon images` reaches this through the gateway, because only the runner can reach
 * the engine. `npm run setup` or an image's owner builds it; a runner never does.
 *
 * An image is put on the list only after a sandbox of it was started, compared and greeted.
 */
import {
  AntiphonError,
  DEFAULT_IMAGE,
  type ImagesReply,
  type ImagesRequest,
  type SandboxImage,
} from "@antiphon/contracts";
import type { AllowlistFile } from "./allowlist-file.ts";
import { allowanceOf, withAllowed, withoutAllowed, type AllowedImage } from "./image-allowlist.ts";
import { lackingIn, programsOf } from "./programs.ts";
import type { ImageFacts, Sandbox, SandboxProvider } from "../ports.ts";

export interface ImagesOptions {
  readonly node: string;
  readonly provider: SandboxProvider;
  readonly allowlist: AllowlistFile;
  /** The current name of the default image. Read on every use, since setup may build another one. */
  readonly standard: () => string | null;
  /** Allowed by configuration: ids, or names with a digest. */
  readonly configured: readonly string[];
  /** Starts a trial sandbox of an image that is not allowed yet. */
  readonly start: (image: ImageFacts) => Promise<Sandbox>;
  readonly now: () => Date;
}

type Reply = Omit<Extract<ImagesReply, { ok: true }>, "ok">;

export class Images {
  readonly #options: ImagesOptions;
  readonly #sealed = new Map<string, boolean>();
  /** By the image's id. */
  readonly #lacks = new Map<string, Promise<string[] | null>>();
  #standard: { readonly ref: string; readonly facts: ImageFacts } | null = null;

  constructor(options: ImagesOptions) {
    this.#options = options;
  }

  /** The image of a request that names none. */
  async standard(): Promise<ImageFacts> {
    const ref = this.#options.standard();
    if (ref !== null && this.#standard?.ref === ref) return this.#standard.facts;
    const facts = ref === null ? null : await this.#options.provider.image(ref);
    if (ref === null || facts === null)
      throw new AntiphonError("ANT_SANDBOX_IMAGE_MISSING", `image ${ref ?? "(none built)"} is not there`);
    this.#standard = { ref, facts };
    return facts;
  }

  /** The default image as last looked up; null before that. */
  get known(): ImageFacts | null {
    return this.#standard?.facts ?? null;
  }

  /** The image for a request, or a coded refusal. */
  async resolve(asked: string | null): Promise<ImageFacts> {
    const standard = await this.standard();
    if (asked === null || asked === DEFAULT_IMAGE || asked === standard.id) return standard;
    if (asked === this.#options.standard()) return standard;
    const facts = await this.#options.provider.image(asked);
    const list = await this.#options.allowlist.read();
    if (facts === null) {
      const isKnown = list.some((one) => one.ref === asked || one.id === asked);
      if (isKnown) throw missing(asked);
      throw notAllowed(`image ${asked} is neither on the allowlist nor on the engine`);
    }
    if (facts.id === standard.id || (await this.#isConfigured(facts.id))) return facts;
    const allowance = allowanceOf(list, asked, facts.id);
    if (allowance.kind === "allowed") return facts;
    if (allowance.kind === "unknown")
      throw notAllowed(`image ${asked} (${facts.id}) is not on the allowlist`);
    throw notAllowed(`image ${asked} is ${facts.id} now; the allowed image was ${allowance.allowedId}`);
  }

  async answer(request: ImagesRequest): Promise<Reply> {
    if (request.op === "allow") await this.#allow(request.ref);
    if (request.op === "disallow") await this.#disallow(request.ref);
    const reply = { node: this.#options.node, images: await this.#list() };
    if (request.op !== "list" || request.look_into === undefined) return reply;
    const lacks = await this.#lacksOf(await this.resolve(request.look_into));
    return { ...reply, ...(lacks === null ? {} : { lacks }) };
  }

  /** Looks once for each digest. If the look fails, the next call looks again. */
  async #lacksOf(facts: ImageFacts): Promise<string[] | null> {
    const known = this.#lacks.get(facts.id) ?? this.#lookInto(facts);
    this.#lacks.set(facts.id, known);
    try {
      const lacks = await known;
      if (lacks === null) this.#lacks.delete(facts.id);
      return lacks;
    } catch (error) {
      this.#lacks.delete(facts.id);
      throw error;
    }
  }

  async #lookInto(facts: ImageFacts): Promise<string[] | null> {
    const sandbox = await this.#options.start(facts);
    try {
      return await lackingIn(sandbox, facts);
    } finally {
      await sandbox.destroy({ kind: "canceled", reason: "the look into the image is over" });
    }
  }

  async #allow(ref: string): Promise<void> {
    const { provider, allowlist, now } = this.#options;
    const facts = await provider.image(ref);
    if (facts === null) throw missing(ref);
    const programs = await this.#try(ref, facts);
    const image: AllowedImage = { ref, id: facts.id, allowedAt: now().toISOString(), programs };
    await allowlist.change((images) => withAllowed(images, image));
  }

  async #disallow(asked: string): Promise<void> {
    const list = await this.#options.allowlist.read();
    const left = withoutAllowed(list, asked);
    if (left.length === list.length) throw notAllowed(`image ${asked} is not on the allowlist`);
    await this.#options.allowlist.change((images) => withoutAllowed(images, asked));
  }

  /** Starts one sandbox of the image, so that anything it lacks shows here and not in a run. Returns its programs. */
  async #try(ref: string, facts: ImageFacts): Promise<string[]> {
    let sandbox: Sandbox;
    try {
      sandbox = await this.#options.start(facts);
    } catch (error) {
      const { code, detail } = AntiphonError.from(error, "ANT_SANDBOX_FAILED");
      if (code === "ANT_DOCKER_UNREACHABLE") throw error;
      throw new AntiphonError("ANT_SANDBOX_IMAGE_UNUSABLE", `image ${ref}: ${detail}`, { cause: error });
    }
    this.#sealed.set(facts.id, sandbox.sealed);
    try {
      return await programsOf(sandbox);
    } finally {
      await sandbox.destroy({ kind: "canceled", reason: "the trial is over" });
    }
  }

  async #isConfigured(id: string): Promise<boolean> {
    for (const name of this.#options.configured) {
      if (name === id || (await this.#options.provider.image(name))?.id === id) return true;
    }
    return false;
  }

  async #list(): Promise<SandboxImage[]> {
    const { configured, allowlist, standard } = this.#options;
    const rows: SandboxImage[] = [];
    const ref = standard();
    if (ref !== null) rows.push(await this.#row(ref, "setup", null));
    for (const name of configured) rows.push(await this.#row(name, "configuration", null));
    for (const { ref: name, id, allowedAt, programs } of await allowlist.read()) {
      const known = programs === undefined ? {} : { programs: [...programs] };
      rows.push({ ...(await this.#row(id, "allowlist", allowedAt)), ref: name, id, ...known });
    }
    return rows;
  }

  async #row(
    ref: string,
    allowed_by: SandboxImage["allowed_by"],
    allowed_at: string | null,
  ): Promise<SandboxImage> {
    const facts = await this.#options.provider.image(ref);
    const id = facts?.id ?? null;
    const sealed = id === null ? null : (this.#sealed.get(id) ?? null);
    return { ref, id, allowed_by, allowed_at, bytes: facts?.bytes ?? null, sealed };
  }
}

function missing(ref: string): AntiphonError {
  return new AntiphonError("ANT_SANDBOX_IMAGE_MISSING", `image ${ref} is not on the engine`);
}

function notAllowed(why: string): AntiphonError {
  return new AntiphonError("ANT_SANDBOX_IMAGE_NOT_ALLOWED", why);
}
