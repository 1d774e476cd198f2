/** Parsers of what a caller of the gateway sends back: the cursor of a page. */
import { AntiphonError } from "@antiphon/contracts";
import { runCursorOf } from "../../services/gateway/src/http/paging.ts";
import type { Parser } from "./growth.ts";
import { numbered } from "./shapes.ts";

export const pageParsers: readonly Parser[] = [
  {
    name: "the cursor of a page",
    reads: ["services/gateway/src/http/paging.ts"],
    shapes: [
      numbered("items", (i) => `${i},`),
      numbered("JSON", (i) => Buffer.from(`["runs",${i}]`).toString("base64url")),
    ],
    run: (cursor) => {
      try {
        runCursorOf({ cursor }, 1);
      } catch (error) {
        if (!(error instanceof AntiphonError)) throw error;
      }
    },
  },
];
