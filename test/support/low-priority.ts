/**
 * Set up before files that compute all the time: they take what the campaigns beside them leave of the processors. The threads
 * and processes that they start inherit it.
 */
import { setPriority } from "node:os";

const LESS_THAN_USUAL = 10;

setPriority(LESS_THAN_USUAL);
