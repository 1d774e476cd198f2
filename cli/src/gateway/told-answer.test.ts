import { expect, test } from "vitest";
import { ToldAnswer } from "./told-answer.ts";

const news = { taskId: "check", stream: "progress", epoch: 1, text: "next näh" };

test("the news comes out as it arrives, and the last event is the answer, wherever the parts are cut", () => {
  const body = Buffer.from(
    `: beat\n\nevent: log\ndata: ${JSON.stringify(news)}\n\nevent: answer\ndata: {"passed":true}\n\n`,
  );
  const told: unknown[] = [];
  const answer = new ToldAnswer((one) => told.push(one));
  for (const byte of body) answer.push(Buffer.from([byte]));
  expect(told).toEqual([news]);
  expect(answer.text(body)).toBe('{"passed":true}');
});

test("an older gateway answers with JSON alone", () => {
  const answer = new ToldAnswer(() => expect.unreachable());
  const body = Buffer.from('  {"passed":false}');
  answer.push(body);
  expect(JSON.parse(answer.text(body))).toEqual({ passed: false });
});
