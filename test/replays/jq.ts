import type { Language } from "./repository.ts";

const compares = (options: string, input: string): string =>
  `jq ${options} ${input} > /tmp/got && diff expected.json /tmp/got\n`;

export const jq: Language = {
  language: "jq",
  repositories: [
    {
      name: "active-users",
      goal: "Users without the field active are left out",
      files: {
        "src/active.jq": "map(select(.active)) | map(.name)\n",
        "users.json": '[{"name":"ann"},{"name":"bob","active":false},{"name":"cy","active":true}]\n',
        "expected.json": '["ann","cy"]\n',
        "test.sh": compares("-c -f src/active.jq", "users.json"),
      },
      check: "sh test.sh",
      wrong: ["src/active.jq", "select(.active)", "select(.active // true)"],
      fix: ["src/active.jq", "select(.active)", "select(.active != false)"],
    },
    {
      name: "flatten-config",
      goal: "Empty objects disappear from the flat configuration",
      files: {
        "src/flat.jq":
          '[paths(scalars) as $p | {key: ($p | map(tostring) | join(".")), value: getpath($p)}] | from_entries\n',
        "config.json": '{"a":{"b":1},"c":{},"d":[true]}\n',
        "expected.json": '{"a.b":1,"c":{},"d.0":true}\n',
        "test.sh": compares("-c -f src/flat.jq", "config.json"),
      },
      check: "sh test.sh",
      fix: ["src/flat.jq", "paths(scalars)", 'paths(scalars, (select(type == "object" and length == 0)))'],
    },
    {
      name: "latest",
      goal: "latest.jq picks the first release and not the newest",
      files: {
        "src/latest.jq": "sort_by(.version) | first | .version\n",
        "releases.json": '[{"version":"1.9.0"},{"version":"10.0.0"},{"version":"9.1.0"}]\n',
        "expected.json": '"10.0.0"\n',
        "test.sh": compares("-f src/latest.jq", "releases.json"),
      },
      check: "sh test.sh",
      wrong: ["src/latest.jq", "sort_by(.version) | first", "sort_by(.version) | last"],
      fix: [
        "src/latest.jq",
        "sort_by(.version) | first",
        'sort_by(.version | split(".") | map(tonumber)) | last',
      ],
    },
    {
      name: "group",
      goal: "The sums of orders are texts",
      files: {
        "src/sums.jq": "group_by(.who) | map({(.[0].who): (map(.sum) | add)}) | add\n",
        "orders.json": '[{"who":"a","sum":"1"},{"who":"b","sum":"5"},{"who":"a","sum":"2"}]\n',
        "expected.json": '{\n  "a": 3,\n  "b": 5\n}\n',
        "test.sh": compares("-S -f src/sums.jq", "orders.json"),
      },
      check: "sh test.sh",
      fix: ["src/sums.jq", "map(.sum)", "map(.sum | tonumber)"],
    },
    {
      name: "matrix",
      goal: "The matrix of builds has no arm64",
      files: {
        "src/matrix.jq": "[.os[] as $os | .arch[0] as $arch | {os: $os, arch: $arch}]\n",
        "axes.json": '{"os":["linux","macos"],"arch":["x64","arm64"]}\n',
        "matrix.json": '[{"os":"linux","arch":"x64"}]\n',
        "test.sh": 'test "$(jq length matrix.json)" = 4 && jq -e \'any(.arch == "arm64")\' matrix.json\n',
      },
      check: "sh test.sh",
      fix: ["src/matrix.jq", ".arch[0] as", ".arch[] as"],
      also: { command: "jq -f src/matrix.jq axes.json > matrix.json", writes: "matrix.json" },
    },
    {
      name: "errors",
      goal: "A line of the log that is no JSON ends the count",
      files: {
        "src/count.jq": '[inputs | fromjson | select(.level == "error")] | length\n',
        "log.jsonl": '{"level":"error"}\nstarted\n{"level":"info"}\n{"level":"error"}\n',
        "expected.json": "2\n",
        "test.sh": compares("-n -R -f src/count.jq", "log.jsonl"),
      },
      check: "sh test.sh",
      fix: ["src/count.jq", "inputs | fromjson |", "inputs | fromjson? |"],
    },
  ],
};
