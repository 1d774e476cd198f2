// The conversation of the loop after a question, in the home directory, where it is no part of the change.
import { readFileSync, writeFileSync } from "node:fs";

const fileIn = ({ HOME }) => `${HOME}/.model-conversation.json`;

/** @param messages of the user, the model and its tools */
export function keepConversation(env, messages) {
  writeFileSync(fileIn(env), JSON.stringify(messages));
}

/** Throws if there is none. */
export function conversation(env) {
  return JSON.parse(readFileSync(fileIn(env), "utf8"));
}
