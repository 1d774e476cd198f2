// antiphon images list|build|allow|disallow: manages the images that sandboxes may use.
import type { ImagesReply, ImagesRequest } from "@antiphon/contracts";
import { examples } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import { plain } from "../screen/screen.ts";
import { bytes, table } from "../screen/table.ts";

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
      const answer = await (await context.gateway()).get<Images>("/images");
      if (options.json === true) return context.screen.json(answer);
      show(context, answer);
    });
  images
    .command("build")
    .summary("build the standard image on this machine, from its Dockerfile or from Debian packages")
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(["antiphon images build"]))
    .action(async (options: Json) => {
      const { runSetup } = await import("../doctor/setup-program.ts");
      const json = options.json === true ? ["--json"] : [];
      context.setExitCode(await runSetup(context, ["--only-image", ...json]));
    });
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
        const answer = await (await context.gateway()).post<Images>("/images", request);
        if (options.json === true) return context.screen.json(answer);
        show(context, answer);
      });
  }
};

function show({ screen }: CliContext, { images }: Images): void {
  if (images.length === 0)
    return screen.out("no image is allowed; build the standard one: antiphon images build");
  const rows = images.map(({ ref, id, allowed_by, bytes: size, sealed }) => [
    plain(ref),
    id === null ? "-" : id.slice(0, 19),
    allowed_by,
    size === null ? "not on the engine" : bytes(size),
    sealed === false ? "for attempts only: it cannot run a verification" : "",
  ]);
  for (const row of table(rows)) screen.out(row.trimEnd());
}
