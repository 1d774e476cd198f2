import { expect, test } from "vitest";
import { SetupNews } from "./setup-news.ts";

test("people are told the command, for how long it has run, and its last line", () => {
  const news = new SetupNews(1000);
  news.command("npm ci");
  expect(news.text(1000)).toBe("preparing the environment: npm ci");
  news.push(Buffer.from("added 3 packages\n\nadded 12"));
  expect(news.text(15_400)).toBe("preparing the environment for 14 s: npm ci: added 12");
  news.push(Buffer.from(" packages\n"));
  expect(news.text(15_400)).toBe("preparing the environment for 14 s: npm ci: added 12 packages");
});

test("a line that a progress bar began again counts from its last beginning, without colours", () => {
  const news = new SetupNews(0);
  news.command("pip install");
  news.push(Buffer.from("10 %\r\u001b[32m 70 %\u001b[0m"));
  expect(news.text(2000)).toBe("preparing the environment for 2 s: pip install: 70 %");
});

test("the output of an earlier command is not shown for a later one, and much output is cut", () => {
  const news = new SetupNews(0);
  news.command("first");
  news.push(Buffer.from("done\n"));
  news.command("second");
  expect(news.text(0)).toBe("preparing the environment: second");
  for (let i = 0; i < 100; i += 1) news.push(Buffer.alloc(65_536, "x"));
  expect(news.text(0).length).toBeLessThan(200);
});

test("a warning of npm is not what a setup is at", () => {
  const news = new SetupNews(0);
  news.command("npm ci");
  const warning =
    'npm warn Unknown env config "store-dir". This will stop working in the next major version of npm.';
  news.push(Buffer.from(`${warning}\n\u001b[33mnpm WARN\u001b[0m deprecated glob@7`));
  expect(news.text(41_000)).toBe("preparing the environment for 41 s: npm ci");
  news.push(Buffer.from("\nadded 3 packages\n" + warning));
  expect(news.text(41_000)).toBe("preparing the environment for 41 s: npm ci: added 3 packages");
});

test("what a JVM says of the proxy is not what a setup is at", () => {
  const news = new SetupNews(0);
  news.command("mvn test");
  news.push(Buffer.from("Picked up JAVA_TOOL_OPTIONS: -Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=3128\n"));
  expect(news.text(31_000)).toBe("preparing the environment for 31 s: mvn test");
});

test("while what setup made is stored, its last command is over", () => {
  const news = new SetupNews(0);
  news.command("pnpm install");
  news.push(Buffer.from("Done in 48.4s\n"));
  news.storing();
  expect(news.text(92_000)).toBe("preparing the environment for 92 s: storing what it has made");
});
