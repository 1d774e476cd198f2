import type { Language } from "./repository.ts";

/** Builds beside the tree, so that no program becomes part of the change. */
const makefile = (sources: string): string =>
  `test:\n\tcc -Wall -Wextra -o /tmp/tests ${sources}\n\t/tmp/tests\n\n.PHONY: test\n`;

export const c: Language = {
  language: "C",
  repositories: [
    {
      name: "count-lines",
      goal: "count counts words and not lines",
      files: {
        Makefile: "count: count.c\n\tcc -Wall -o $@ $<\n\ntest: count\n\tsh ./test.sh\n\n.PHONY: test\n",
        "count.c": `#include <stdio.h>
int main(void) {
  long lines = 0;
  for (int c; (c = getchar()) != EOF;) if (c == ' ') lines++;
  printf("%ld\\n", lines);
}
`,
        "test.sh": `got=$(printf 'one two\\nthree\\n' | ./count)
[ "$got" = 2 ] || { echo "counted $got lines, not 2" >&2; exit 1; }
`,
        ".gitignore": "count\n",
      },
      check: "make test",
      fix: ["count.c", "c == ' '", "c == '\\n'"],
    },
    {
      name: "ring",
      goal: "A full ring buffer looks empty",
      files: {
        Makefile: makefile("ring.c test.c"),
        "ring.h":
          "enum { SIZE = 3 };\ntypedef struct { int at[SIZE]; int first, next; } ring;\nint put(ring *r, int v);\nint take(ring *r, int *v);\n",
        "ring.c": `#include "ring.h"
int put(ring *r, int v) {
  if (r->next - r->first > SIZE) return 0;
  r->at[r->next++ % SIZE] = v;
  return 1;
}
int take(ring *r, int *v) {
  if (r->first == r->next) return 0;
  *v = r->at[r->first++ % SIZE];
  return 1;
}
`,
        "test.c": `#include <stdio.h>
#include "ring.h"
int main(void) {
  ring r = {0};
  int v = 0, puts = 0;
  for (int i = 1; i <= 5; i++) puts += put(&r, i);
  if (puts != 3) return printf("it took %d values, not 3\\n", puts), 1;
  return !(take(&r, &v) && v == 1);
}
`,
      },
      check: "make test",
      wrong: ["ring.c", "r->next - r->first > SIZE", "r->next - r->first > SIZE - 2"],
      fix: ["ring.c", "r->next - r->first > SIZE", "r->next - r->first >= SIZE"],
    },
    {
      name: "trim",
      goal: "trim reads before the start of an empty text",
      files: {
        Makefile: makefile("trim.c"),
        "trim.c": `#include <ctype.h>
#include <stdio.h>
#include <string.h>
static int end_of(const char *text) {
  int end = (int)strlen(text) - 1;
  while (isspace((unsigned char)text[end])) end--;
  return end + 1;
}
int main(void) {
  char room[8] = "      ";
  if (end_of(room + 6) != 0) return printf("the end of nothing is %d\\n", end_of(room + 6)), 1;
  return end_of("ab  ") != 2;
}
`,
      },
      check: "make test",
      fix: ["trim.c", "while (isspace(", "while (end >= 0 && isspace("],
    },
    {
      name: "hex",
      goal: "hex prints bytes above 127 with eight digits",
      files: {
        "hex.c": `#include <stdio.h>
int main(void) {
  char c;
  while (fread(&c, 1, 1, stdin) == 1) printf("%02x", c);
  puts("");
}
`,
        "test.sh": `set -e
gcc -Wall -o "\${TMPDIR:-/tmp}/hex" hex.c
got=$(printf '\\001\\377' | "\${TMPDIR:-/tmp}/hex")
[ "$got" = 01ff ] || { echo "got $got"; exit 1; }
`,
      },
      check: "sh test.sh",
      fix: ["hex.c", "  char c;", "  unsigned char c;"],
    },
    {
      name: "table",
      goal: "The generated table of squares ends too early",
      files: {
        "gen.c": `#include <stdio.h>
int main(void) {
  printf("static const int SQUARES[] = {");
  for (int i = 0; i < 4; i++) printf("%d,", i * i);
  puts("};");
}
`,
        "squares.h": "static const int SQUARES[] = {0,1,4,9,};\n",
        "use.c": `#include "squares.h"
int main(void) { return !(sizeof SQUARES / sizeof *SQUARES == 6 && SQUARES[5] == 25); }
`,
        Makefile: "test:\n\tcc -o /tmp/use use.c\n\t/tmp/use\n",
      },
      check: "make test",
      fix: ["gen.c", "i < 4", "i < 6"],
      also: { command: "cc -o /tmp/gen gen.c && /tmp/gen > squares.h", writes: "squares.h" },
    },
    {
      name: "atoi",
      goal: "parse takes 12x for 12",
      files: {
        Makefile: makefile("parse.c"),
        "parse.c": `#include <stdio.h>
#include <stdlib.h>
static int parse(const char *text, long *value) {
  char *end;
  *value = strtol(text, &end, 10);
  return end != text;
}
int main(void) {
  long v;
  if (parse("12x", &v)) return puts("12x is no number"), 1;
  if (parse("", &v)) return puts("nothing is no number"), 1;
  return !(parse("-7", &v) && v == -7);
}
`,
      },
      check: "make test",
      wrong: ["parse.c", "return end != text;", "return *end == '\\0';"],
      fix: ["parse.c", "return end != text;", "return end != text && *end == '\\0';"],
    },
  ],
};
