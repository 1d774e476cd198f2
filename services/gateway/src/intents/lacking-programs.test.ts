import { AntiphonError } from "@antiphon/contracts";
import { expect, test } from "vitest";
import { checksThatStart, passedOver } from "./lacking-programs.ts";

const MAKE = { command: "make test", needs: [["make"]] };
const GO = { command: "go test ./...", needs: [["go"]] };
const BATS = { command: "bats test", needs: [["bats", "npm"]] };
const SCRIPT = { command: "sh ./test.sh", needs: [] };

test("the first check that the image can start is taken, and people are told which programs it lacks", () => {
  expect(passedOver([MAKE, GO], ["go"])).toEqual({ lacks: [], note: null });
  expect(passedOver([BATS], ["bats"])).toEqual({ lacks: [], note: null });
  expect(passedOver([MAKE, BATS, SCRIPT], ["make", "bats", "npm"])).toEqual({
    lacks: ["make", "bats", "npm"],
    note: "it lacks make, bats, npm, so the check is `sh ./test.sh` and not `make test`, `bats test`; --image names an image that has it",
  });
  expect(passedOver([GO, MAKE], ["go"])).toMatchObject({
    lacks: ["go"],
    note: expect.stringContaining("`antiphon images build --with go` makes an image that has it") as string,
  });
});

test("where no check can start, nothing is passed over, and people are told why", () => {
  expect(passedOver([GO, MAKE], ["go", "make"])).toEqual({
    lacks: [],
    note: "it lacks go, which the check `go test ./...` needs; `antiphon images build --with go` makes an image that has it",
  });
  expect(passedOver([], ["go"])).toEqual({ lacks: [], note: null });
});

test("the image of the run is looked into, and nothing is passed over if nobody can look", async () => {
  const asked: unknown[] = [];
  const images = (request: unknown) => {
    asked.push(request);
    return Promise.resolve({ ok: true as const, node: "n", images: [], lacks: ["make"] });
  };
  expect(await checksThatStart({ images }, [MAKE, SCRIPT], "team/dev:1")).toMatchObject({ lacks: ["make"] });
  expect(asked).toEqual([{ op: "list", look_into: "team/dev:1" }]);
  expect(await checksThatStart({ images }, [SCRIPT], "team/dev:1")).toMatchObject({ lacks: [] });
  expect(asked).toHaveLength(1);
  const lost = new AntiphonError("ANT_SANDBOX_RUNNER_LOST", "no sandbox-runner answered");
  const gone = { images: () => Promise.reject(lost) };
  expect(await checksThatStart(gone, [MAKE, SCRIPT], "default")).toEqual({ lacks: [], note: null });
});
