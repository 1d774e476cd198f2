# Tells what the top of a layered sandbox holds: everything that was changed, and nothing else. The top is mounted
# read-only beside the workspace; the kernel writes it, so no command can hide a change in it.

# Writes '+path' for each file, '-path' for each name that was removed from a layer, and for each directory '/path', or
# '=path' when it holds nothing that comes from a layer; each ended by a NUL. The runner knows what the layer held.
sub tell_upper {
  my ($told, @directories) = ('', '');
  while (defined(my $directory = pop @directories)) {
    my %own = ('.' => 1, '..' => 1, '.git' => 1);
    for my $name (names_within($UPPER, $directory)) {
      next if $own{$name} || !lstat $name;
      if (-c _ && (stat _)[6] == 0) {    # A whiteout.
        $told .= "-$directory$name\0";
        next;
      }
      $own{$name} = 1;
      if (-d _ && length "$directory$name" <= $LONGEST_PATH) { push @directories, "$directory$name/" }
      else                                                   { $told .= "+$directory$name\0" }
      if (length $told > 65536) { write_out($told); $told = '' }
    }
    opendir(my $merged, "/workspace/$directory") or die "cannot read $directory: $!\n";
    my $sign = '=';
    while (defined(my $name = readdir $merged)) {
      next if $own{$name};
      $sign = '/';
      last;
    }
    $told .= "$sign$directory\0";
  }
  close_again();
  write_out($told);
  return;
}
