# A hook after each tool, and before Claude stops: with exit code 2, what is printed here is told to Claude, which goes on.
said=$(antiphon-inbox) || exit 0
printf 'The person for whom you work says: %s\n' "$said" >&2
exit 2
