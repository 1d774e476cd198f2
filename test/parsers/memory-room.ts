/**
 * Runs every parser on a large input of some of its shapes and prints a line for each: the parser, the shape, and by how much
 * the process's largest resident size grew. Start it with a small heap (`node --max-old-space-size`): a parser that
 * needs more ends the process, and the last line names it.
 */
import { sized } from "../support/night.ts";
import { LARGEST } from "./growth.ts";
import { PARSERS } from "./table.ts";

/** Some parsers take seconds for more. */
const CHARACTERS = Math.min(LARGEST, 64 * 1024);
/** Evenly spread over all shapes of a parser; some have thousands. */
const SHAPES = sized(6, 12);

const peakKib = (): number => process.resourceUsage().maxRSS;

for (const parser of PARSERS) {
  const { name, shapes, largest = LARGEST } = parser;
  const each = Math.ceil(shapes.length / SHAPES);
  for (const shape of shapes.filter((_, i) => i % each === 0)) {
    const characters = Math.min(largest, CHARACTERS);
    process.stdout.write(`${JSON.stringify({ parser: name, shape: shape.name, characters })}\n`);
    const input = shape.make(characters);
    const before = peakKib();
    try {
      await parser.run(input);
    } catch (error) {
      if (!(error instanceof Error)) throw error; // A refusal; growth.ts judges what parsers throw.
    }
    process.stdout.write(`${JSON.stringify({ grownKib: peakKib() - before })}\n`);
  }
}
process.stdout.write("done\n");
