import type { Language } from "./repository.ts";

/** Compares what a program makes of its input with what it should make. */
const compares = (program: string, input: string): string =>
  `awk ${program} ${input} > got.tmp\ndiff expected got.tmp && rm got.tmp\n`;

export const awk: Language = {
  language: "awk",
  repositories: [
    {
      name: "log-status",
      goal: "Requests without a size are not counted",
      files: {
        "src/status.awk":
          'NF == 10 { count[$9]++ }\nEND { for (code in count) print code, count[code] | "sort" }\n',
        "access.log": `a - - [1/Jan 0] "GET / HTTP/1.1" 200 12
a - - [1/Jan 0] "GET /x HTTP/1.1" 304
a - - [1/Jan 0] "GET /y HTTP/1.1" 200 9
`,
        expected: "200 2\n304 1\n",
        "test.sh": compares("-f src/status.awk", "access.log"),
      },
      check: "sh test.sh",
      wrong: ["src/status.awk", "NF == 10 { count[$9]++ }", "NF == 9 { count[$9]++ }"],
      fix: ["src/status.awk", "NF == 10 { count[$9]++ }", "NF >= 9 { count[$9]++ }"],
    },
    {
      name: "csv-column",
      goal: "A column is cut off at a comma in quotes",
      files: {
        "src/column.awk": `BEGIN { FS = "," }
{ print $2 }
`,
        "in.csv": '1,"Smith, Ann",x\n2,Bob,y\n',
        expected: "Smith, Ann\nBob\n",
        "test.sh": compares("-f src/column.awk", "in.csv"),
      },
      check: "sh test.sh",
      fix: [
        "src/column.awk",
        'BEGIN { FS = "," }\n{ print $2 }\n',
        `{
  rest = $0
  sub(/^[^,]*,/, "", rest)
  if (rest ~ /^"/) { sub(/^"/, "", rest); sub(/".*$/, "", rest) } else sub(/,.*$/, "", rest)
  print rest
}
`,
      ],
    },
    {
      name: "average",
      goal: "The average of an empty input ends with a division by zero",
      files: {
        "src/average.awk": '{ sum += $1; n++ }\nEND { printf "%.2f\\n", sum / n }\n',
        "test.sh": `[ "$(printf '1\\n2\\n' | awk -f src/average.awk)" = 1.50 ] &&
[ "$(awk -f src/average.awk < /dev/null)" = none ]
`,
      },
      check: "sh test.sh",
      fix: [
        "src/average.awk",
        'printf "%.2f\\n", sum / n',
        'if (n == 0) print "none"; else printf "%.2f\\n", sum / n',
      ],
    },
    {
      name: "depends",
      goal: "The list of what a module imports repeats names",
      files: {
        "src/imports.awk": '/^import / { gsub(/[;"]/, "", $2); print $2 }\n',
        "a.src": 'import "b";\nimport "c";\nimport "b";\n',
        expected: "b\nc\n",
        "test.sh": compares("-f src/imports.awk", "a.src"),
      },
      check: "sh test.sh",
      fix: ["src/imports.awk", "print $2 }", "if (!seen[$2]++) print $2 }"],
    },
    {
      name: "totals",
      goal: "The report of hours lacks the last project",
      files: {
        "src/report.awk": `$1 != name { if (name != "") print name, hours; name = $1; hours = 0 }
{ hours += $2 }
`,
        "hours.txt": "api 2\napi 3\nweb 4\n",
        REPORT: "api 5\n",
        "test.sh": 'grep -qx "web 4" REPORT && awk -f src/report.awk hours.txt | cmp - REPORT\n',
      },
      check: "sh test.sh",
      fix: ["src/report.awk", "{ hours += $2 }\n", "{ hours += $2 }\nEND { print name, hours }\n"],
      also: { command: "awk -f src/report.awk hours.txt > REPORT", writes: "REPORT" },
    },
    {
      name: "toc",
      goal: "Comments in code are taken for headings",
      files: {
        "src/toc.awk": '/^# / { sub(/^# /, ""); print }\n',
        "doc.md": "# One\n```\n# no heading\n```\n# Two\n",
        expected: "One\nTwo\n",
        "test.sh": compares("-f src/toc.awk", "doc.md"),
      },
      check: "sh test.sh",
      wrong: ["src/toc.awk", "/^# / {", "/^```/ { exit } /^# / {"],
      fix: ["src/toc.awk", "/^# / {", "/^```/ { code = !code }\n!code && /^# / {"],
    },
  ],
};
