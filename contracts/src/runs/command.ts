/** A command line for a shell. */
import { Type } from "typebox";

export const MAX_COMMAND = 8192;
export const Command = Type.String({ minLength: 1, maxLength: MAX_COMMAND });
