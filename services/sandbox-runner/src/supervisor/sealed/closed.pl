# Opens files and directories of /workspace that the code closed to its own user. The supervisor is the same user, so it may
# change their modes; after a reading `close_again` puts them back.

# Path and former mode of each, in the order in which they were opened.
my @opened;

# Adds these bits to the mode of a file or directory. False when it has them, and for a link, which chmod would follow.
sub open_up {
  my ($path, $bits) = @_;
  my $mode = (lstat $path)[2];
  return 0 unless defined $mode && (-f _ || -d _) && ($mode & $bits) != $bits;
  chmod $mode & 07777 | $bits, $path or return 0;
  push @opened, [$path, $mode & 07777];
  return 1;
}

# Opens the directories that lead to this path of /workspace.
sub open_way_to {
  my ($name) = @_;
  my $path = '/workspace';
  for my $part (split /\//, $name) {
    open_up($path, 0500);
    $path .= "/$part";
  }
  return;
}

sub close_again {
  for (reverse @opened) { chmod $_->[1], $_->[0] }
  @opened = ();
  return;
}

# The names in a directory below $place, which becomes the current one. $place is /workspace, or shows the same directories
# read-only.
sub names_within {
  my ($place, $directory) = @_;
  my $handle;
  until (chdir "$place/$directory" and opendir $handle, '.') {
    my $why = $!;
    open_up("/workspace/$directory", 0500) or die "cannot read $directory: $why\n";
  }
  return readdir $handle;
}
