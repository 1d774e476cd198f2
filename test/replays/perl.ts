import type { Language } from "./repository.ts";

const HEAD = "use strict;\nuse warnings;\n";
const TEST = `${HEAD}use Test::More;\n`;

export const perl: Language = {
  language: "Perl",
  repositories: [
    {
      name: "roman",
      goal: "roman(4) is IIII",
      files: {
        "lib/Roman.pm": `package Roman;
${HEAD}my @PAIRS = ([10, 'X'], [9, 'IX'], [5, 'V'], [1, 'I']);

sub roman {
    my ($n) = @_;
    my $out = '';
    for my $pair (@PAIRS) {
        while ($n >= $pair->[0]) { $out .= $pair->[1]; $n -= $pair->[0] }
    }
    return $out;
}
1;
`,
        "t/roman.t": `${TEST}use Roman;
is(Roman::roman(14), 'XIV', 'fourteen');
is(Roman::roman(9), 'IX', 'nine');
done_testing;
`,
      },
      check: "prove -l t",
      fix: ["lib/Roman.pm", "[5, 'V'],", "[5, 'V'], [4, 'IV'],"],
    },
    {
      name: "ini",
      goal: "Comments after a value become part of it",
      files: {
        "Ini.pm": `package Ini;
${HEAD}
sub parse {
    my ($text) = @_;
    my (%found, $section);
    for (split /\\n/, $text) {
        if (/^\\[(\\w+)\\]/) { $section = $1 }
        elsif (/^(\\w+)\\s*=\\s*(.*)$/) { $found{$section}{$1} = $2 }
    }
    return \\%found;
}
1;
`,
        "ini.t": `${TEST}use lib '.';
use Ini;
my $found = Ini::parse("[net]\\nhost = a.example ; the first\\nport=80\\n");
is_deeply($found, { net => { host => 'a.example', port => '80' } });
done_testing;
`,
      },
      check: "prove ini.t",
      wrong: ["Ini.pm", "(.*)$/)", "([^;]*)/)"],
      fix: ["Ini.pm", "(.*)$/)", "([^;]*?)\\s*(?:;.*)?$/)"],
    },
    {
      name: "wordcount",
      goal: "The words of a text are counted by case",
      files: {
        "wordcount.pl": `${HEAD}my %count;
while (my $line = <STDIN>) {
    $count{$_}++ for $line =~ /(\\w+)/g;
}
print "$_ $count{$_}\\n" for sort keys %count;
`,
        "test.sh":
          "out=$(printf 'The end of the end\\n' | perl wordcount.pl | tr '\\n' ' ')\n[ \"$out\" = 'end 2 of 1 the 2 ' ] || { echo \"got $out\" >&2; exit 1; }\n",
      },
      check: "sh test.sh",
      fix: ["wordcount.pl", "$count{$_}++ for", "$count{lc $_}++ for"],
    },
    {
      name: "template",
      goal: "A value of 0 is left out of the template",
      files: {
        "Template.pm": `package Template;
${HEAD}
sub fill {
    my ($text, %value) = @_;
    $text =~ s<\\{(\\w+)\\}><$value{$1} || ''>ge;
    return $text;
}
1;
`,
        "t/fill.t": `${TEST}use Template;
is(Template::fill('{n} of {all}', n => 0, all => 3), '0 of 3', 'zero is a value');
is(Template::fill('{gone}!'), '!', 'nothing is none');
done_testing;
`,
      },
      check: "prove -I. -v t/fill.t",
      fix: ["Template.pm", "$value{$1} || ''", "$value{$1} // ''"],
    },
    {
      name: "changelog",
      goal: "Entries of the change log are not in the release notes",
      files: {
        "notes.pl": `${HEAD}my $in = 0;
while (<>) {
    if (/^## /) { last if $in; $in = 1; next }
    print if $in && /^\\* /;
}
`,
        "CHANGES.md": "# Changes\n\n## 2.0\n\n- Faster\n- Smaller\n\n## 1.0\n\n- First\n",
        "NOTES.md": "",
        "test.t": `${TEST}open my $notes, '<', 'NOTES.md' or die $!;
my @lines = <$notes>;
is_deeply(\\@lines, ["- Faster\\n", "- Smaller\\n"]);
done_testing;
`,
      },
      check: "perl test.t",
      fix: ["notes.pl", "/^\\* /", "/^[-*] /"],
      also: { command: "perl notes.pl CHANGES.md > NOTES.md", writes: "NOTES.md" },
    },
    {
      name: "median",
      goal: "The median of an even number of values is one of them",
      files: {
        "lib/Stats.pm": `package Stats;
${HEAD}
sub median {
    my @sorted = sort @_;
    return $sorted[ @sorted / 2 ];
}
1;
`,
        "t/median.t": `${TEST}use Stats;
is(Stats::median(1, 10, 2), 2, 'odd');
is(Stats::median(1, 2, 4, 10), 3, 'even');
done_testing;
`,
      },
      check: "prove -l",
      wrong: [
        "lib/Stats.pm",
        "sort @_;\n    return $sorted[ @sorted / 2 ];",
        "sort @_;\n    return ($sorted[ @sorted / 2 ] + $sorted[ @sorted / 2 - 1 ]) / 2;",
      ],
      fix: [
        "lib/Stats.pm",
        "sort @_;\n    return $sorted[ @sorted / 2 ];",
        "sort { $a <=> $b } @_;\n    my $half = int(@sorted / 2);\n    return @sorted % 2 ? $sorted[$half] : ($sorted[$half] + $sorted[ $half - 1 ]) / 2;",
      ],
    },
  ],
};
