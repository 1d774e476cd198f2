import type { Language } from "./repository.ts";

const fails = (what: string): string => `{ echo "${what}" >&2; exit 1; }`;

export const shell: Language = {
  language: "shell",
  repositories: [
    {
      name: "backup",
      goal: "backup.sh skips files with a blank in their name",
      files: {
        "src/backup.sh":
          'set -eu\nmkdir -p "$2"\nfor file in $(ls "$1"); do\n  cp "$1/$file" "$2/" || true\ndone\n',
        "test.sh": `set -eu
work=$(mktemp -d)
mkdir "$work/from"; echo 1 > "$work/from/a b"; echo 2 > "$work/from/c"
sh src/backup.sh "$work/from" "$work/to" 2>/dev/null
[ -f "$work/to/a b" ] || ${fails("a b is not there")}
[ -f "$work/to/c" ]
`,
      },
      check: "sh test.sh",
      fix: [
        "src/backup.sh",
        'for file in $(ls "$1"); do\n  cp "$1/$file" "$2/" || true\n',
        'for file in "$1"/*; do\n  cp "$file" "$2/"\n',
      ],
    },
    {
      name: "version-compare",
      goal: "newer.sh says that 1.9 is newer than 1.10",
      files: {
        "src/newer.sh": '[ "$1" != "$2" ] && [ "$(printf \'%s\\n\' "$1" "$2" | sort | tail -n 1)" = "$1" ]\n',
        "test.sh": `sh src/newer.sh 1.10 1.9 || ${fails("1.10 is newer than 1.9")}
sh src/newer.sh 1.9 1.10 && ${fails("1.9 is not newer")}
sh src/newer.sh 2.0 2.0 && ${fails("2.0 is not newer than itself")}
echo newer
`,
      },
      check: "bash test.sh",
      wrong: ["src/newer.sh", "| sort |", "| sort -n |"],
      fix: ["src/newer.sh", "| sort |", "| sort -V |"],
    },
    {
      name: "env-file",
      goal: "The last line of an .env file is ignored if no newline ends it",
      files: {
        "src/load.sh": `load() {
  while IFS='=' read -r key value; do
    case $key in ''|\\#*) continue ;; esac
    export "$key=$value"
  done < "$1"
}
`,
        "test.sh": `set -eu
. src/load.sh
file=$(mktemp); printf '# no\\nFIRST=1\\nLAST=a=b' > "$file"
load "$file"
[ "\${LAST:-}" = a=b ] || ${fails("LAST is ${LAST:-not set}")}
[ "$FIRST" = 1 ]
`,
      },
      check: "sh ./test.sh",
      fix: ["src/load.sh", "read -r key value; do", 'read -r key value || [ -n "$key" ]; do'],
    },
    {
      name: "options",
      goal: "deploy.sh takes --dry-run for the name of a host",
      files: {
        "src/deploy.sh": `#!/bin/bash
set -euo pipefail
dry=no
hosts=()
for word in "$@"; do
  case $word in
    -n) dry=yes ;;
    *) hosts+=("$word") ;;
  esac
done
echo "dry=$dry hosts=\${hosts[*]}"
`,
        "test.bash": `got=$(bash src/deploy.sh a --dry-run b)
[[ $got == "dry=yes hosts=a b" ]] || ${fails("got $got")}
`,
      },
      check: "bash test.bash",
      fix: ["src/deploy.sh", "-n) dry", "-n|--dry-run) dry"],
    },
    {
      name: "index",
      goal: "The index of pages is not sorted by title",
      files: {
        "index.sh":
          'for page in pages/*.md; do\n  printf \'%s\\t%s\\n\' "$(sed -n \'1s/^# //p\' "$page")" "$page"\ndone | sort -k 2\n',
        "pages/a.md": "# Zebra\n",
        "pages/b.md": "# Ant\n",
        INDEX: "Zebra\tpages/a.md\nAnt\tpages/b.md\n",
        "test.sh": 'cut -f 1 INDEX | LC_ALL=C sort -c\n[ "$(wc -l < INDEX)" -eq 2 ]\n',
      },
      check: "sh -e test.sh",
      fix: ["index.sh", "sort -k 2", "LC_ALL=C sort"],
      also: { command: "sh index.sh > INDEX", writes: "INDEX" },
    },
    {
      name: "size",
      goal: "human.sh shows 1024 bytes as 1024",
      files: {
        "src/human.sh": `n=$1
unit=B
for next in K M G; do
  [ "$n" -gt 1024 ] || break
  n=$((n / 1024))
  unit=$next
done
echo "$n$unit"
`,
        "test.sh": `for pair in 1024=1K 1023=1023B 1048576=1M; do
  got=$(sh src/human.sh "\${pair%=*}")
  [ "$got" = "\${pair#*=}" ] || ${fails("${pair%=*} is $got")}
done
`,
      },
      check: "sh test.sh",
      wrong: ["src/human.sh", '"$n" -gt 1024', '"$n" -gt 1022'],
      fix: ["src/human.sh", '"$n" -gt 1024', '"$n" -ge 1024'],
    },
  ],
};
