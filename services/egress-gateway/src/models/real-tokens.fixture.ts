/** What texts really have in tokens, by two public vocabularies of 100,000 and 200,000 entries. */
import { Tiktoken } from "js-tiktoken/lite";
import smaller from "js-tiktoken/ranks/cl100k_base";
import larger from "js-tiktoken/ranks/o200k_base";

const VOCABULARIES = [new Tiktoken(smaller), new Tiktoken(larger)];

/** By the vocabulary that needs more. */
export function realTokens(text: string): number {
  return Math.max(...VOCABULARIES.map((vocabulary) => vocabulary.encode(text, "all").length));
}

/** What stands in a reservation for the text that a provider adds, whatever the body. */
export const PREAMBLE_TOKENS = 2048;

/** The least and the most that a body may be reserved for, in its real tokens: some vocabularies that are not public have more. */
export const LEAST_RATIO = 1.2;
export const MOST_RATIO = 2;

/** How much more than its real tokens a body is reserved for. */
export function ratioOf(body: string, reservedInput: number): number {
  return (reservedInput - PREAMBLE_TOKENS) / realTokens(body);
}
