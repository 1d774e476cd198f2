// antiphon images list|build|allow|disallow: manages the images that sandboxes may use.
import type { ImagesReply, ImagesRequest } from "@antiphon/contracts";
import { TOOLCHAIN_NAMES } from "@antiphon/contracts/settings/toolchains";
import { examples } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import { Failure } from "../failure.ts";
import { printList } from "../screen/list.ts";
import { bytes } from "../screen/table.ts";

type Images = Extract<ImagesReply, { ok: true }>;
type Json = { json?: boolean };

export const addImages: AddVerb = (program, context) => {
  const images = program.command("images").summary("list, build or allow sandbox images");
  images
    .command("list")
    .summary("list the allowed images and their digests")
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(["antiphon images list"]))
    .action(async (options: Json) => {
      const answer = await (await context.gateway()).get("/images");
      if (options.json === true) return context.screen.json(answer);
      show(context, answer);
    });
  images
    .command("build")
    .summary("build the standard image on this machine, or one with toolchains, which is allowed at once")
    .option("--with <toolchains>", `toolchains to add, separated by commas: ${TOOLCHAIN_NAMES.join(", ")}`)
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(["antiphon images build", "antiphon images build --with go,rust"]))
    .action((options: Json & { with?: string }) => build(context, options));
  change("allow", "test an image of the container engine and allow it, by digest", "alpine:3.22");
  change("disallow", "remove an image from the allowlist", "alpine:3.22");

  function change(op: "allow" | "disallow", summary: string, example: string): void {
    images
      .command(op)
      .summary(summary)
      .argument("<ref>", "the image's name in the container engine, or its id")
      .option("--json", "print one JSON object")
      .addHelpText("after", examples([`antiphon images ${op} ${example}`]))
      .action(async (ref: string, options: Json) => {
        const request: ImagesRequest = { op, ref };
        const answer = await (await context.gateway()).post("/images", {}, request);
        if (options.json === true) return context.screen.json(answer);
        show(context, answer);
      });
  }
};

/** Set-up names the image that it made in its report, and the sandbox-runner tries it before it is allowed. */
async function build(context: CliContext, { json, with: asked }: Json & { with?: string }): Promise<void> {
  const { runSetup, setupReport } = await import("../doctor/setup-program.ts");
  if (asked === undefined) {
    return context.setExitCode(await runSetup(context, ["--only-image"], json === true));
  }
  const gateway = await context.gateway();
  await gateway.get("/images"); // A build takes a minute, so the gateway has to answer first.
  if (json !== true) context.screen.out(`building an image with ${asked}: about two minutes`);
  const report = await setupReport(context, [`--toolchains=${asked}`]);
  const failed = report.steps.find(({ outcome }) => outcome === "failed");
  if (failed !== undefined)
    throw new Failure("ANT_SETUP_FAILED", failed.detail, { remedy: failed.remedy ?? "antiphon doctor" });
  const ref = report.steps.find(({ name }) => name === "toolchain image")?.detail ?? "";
  const ask = (request: ImagesRequest): Promise<Images> => gateway.post("/images", {}, request);
  let answer = await ask({ op: "allow", ref });
  // An image of an earlier version would be as good a choice as the one that was just made.
  for (const old of answer.images.filter((image) => isSuperseded(image.ref, ref)))
    answer = await ask({ op: "disallow", ref: old.ref });
  if (json === true) return context.screen.json(answer);
  show(context, answer);
}

/** The same toolchains under another hash of their inputs. */
const isSuperseded = (other: string, ref: string): boolean =>
  other !== ref && other.startsWith(`${ref.slice(0, ref.lastIndexOf(":"))}:`);

function show({ screen }: CliContext, { images }: Images): void {
  if (images.length === 0)
    return screen.out("no image is allowed; build the standard one: antiphon images build");
  const rows = images.map(({ ref, id, allowed_by, bytes: size, sealed, programs }) => [
    allowed_by === "setup" ? standardName(ref) : ref,
    id === null ? "-" : id.slice(0, 19),
    allowed_by,
    size === null ? "not on the engine" : bytes(size),
    [...(programs ?? []), sealed === false ? "for attempts only: it cannot run a verification" : ""].join(
      " ",
    ),
  ]);
  printList(screen, ["IMAGE", "ID", "ALLOWED BY", "SIZE", "PROGRAMS"], rows);
}

/** `image: default` means the image of the set-up, which may have no other name than its id. */
const standardName = (ref: string): string => (ref.startsWith("sha256:") ? "default" : `${ref} (default)`);
