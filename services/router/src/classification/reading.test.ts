import { expect, test } from "vitest";
import { fold, read } from "./reading.ts";

test.each([
  ["खोज में फ़िल्टर जोड़ दो", ["खोज", "में", "फिल्टर", "जोड", "दो"]],
  ["ติดตั้งไม่ได้", ["ติดตั้งไม่ได้"]],
  ["Thêm nút tải về", ["them", "nut", "tai", "ve"]],
  ["don't add a re-try", ["don't", "add", "a", "re-try"]],
])("vowel signs belong to their word: %s", (text, tokens) => {
  expect(read(text).tokens).toEqual(tokens.map((token) => token.normalize("NFC")));
});

test("marks that people leave out do not matter, and those that make another letter stay", () => {
  expect(fold("أَضِفْ زرًّا")).toBe(fold("اضف زرا"));
  expect(fold("फ़ाइल")).toBe(fold("फाइल"));
  expect(fold("ガ")).not.toBe(fold("カ"));
});
