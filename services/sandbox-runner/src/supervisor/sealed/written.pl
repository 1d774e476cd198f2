# Tells what the commands did to the files of /workspace since they were remembered, each record ended by a NUL:
#   +path   new; a directory ends with a slash, and of a new one only the names directly in it are told
#   !path   changed    -path   missing    ~path   written, and then as it was    ?path   only read
#   .       the list is complete
# The time of the last change tells of a file that was overwritten and put back. The time of the last read tells what was
# opened; a file system that does not keep it shows no reads. Over layers only what the top has is looked at.
# With `$clear`, removes what is new, and everything in /tmp and /dev/shm, so that a next command finds none of it, and lets
# the user write to all directories again. If something cannot be removed, the step fails after the list.

sub last_read   { return substr $_[0], $LAST_READ,   16 }
sub last_change { return substr $_[0], $LAST_CHANGE, 16 }

sub tell_written {
  my ($clear) = @_;
  my ($told, @directories) = ('', '');
  my (@new, %seen, %untouched);
  my $tell = sub {
    $told .= $_[0] . "\0";
    if (length $told > 65536) { write_out($told); $told = '' }
  };
  while (defined(my $directory = pop @directories)) {
    my $was = $before{$directory};
    my %missing;
    @missing{ keys %$was } = ();
    $seen{$directory} = 1;
    open_up("/workspace/$directory", 0700) if $clear;
    my $top = $layered ? in_top($directory) : undef;
    for my $name (names_in($directory)) {
      next if $name eq '.' || $name eq '..';
      my $path = "$directory$name";
      if ($top && !exists $top->{$name}) {
        if ($before{"$path/"}) { $untouched{"$path/"} = 1; next }
        if (exists $was->{$name}) { delete $missing{$name}; next }
      }
      next unless lstat $name;
      delete $missing{$name};
      if (-d _ && $before{"$path/"}) {
        push @directories, "$path/";
      } elsif (exists $was->{$name}) {
        my $sign = fate_of($name, $directory);
        $tell->("$sign$path") if $sign ne '';
        push @new, "/workspace/$path" if $sign eq '!' && lstat $name && -d _;
      } else {
        push @new, "/workspace/$path";
        $tell->("+$path" . (-d _ ? '/' : ''));
        next unless -d _;
        $tell->("+$path/$_") for names_below($path);
        chdir "/workspace/$directory" or die "cannot enter $directory: $!\n";
      }
    }
    $tell->("-$directory$_") for keys %missing;
  }
  for my $directory (keys %before) {
    next if $seen{$directory} || is_within($directory, \%untouched);
    $tell->("-$directory$_") for keys %{ $before{$directory} };
  }
  close_again() unless $clear;
  write_out("$told.\0");
  return unless $clear;
  chdir '/';
  remove_tree($_) for @new;
  empty_directory($_) for '/tmp', '/dev/shm';
  return;
}

sub names_below {
  my ($path) = @_;
  return map { $_ . (!-l "/workspace/$path/$_" && -d _ ? '/' : '') } grep { $_ ne '.' && $_ ne '..' } names_in("$path/");
}

# What happened to a file or link that was there before: a sign of tell_written, or ''. lstat has just seen it.
sub fate_of {
  my ($name, $directory) = @_;
  my ($image, $then) = ($before{$directory}{$name}, $times{$directory}{$name});
  if (!defined $then) { return $image eq '' || -l _ && 'l' . readlink($name) eq $image ? '' : '!' }
  return '!' unless -f _;
  my ($same, $now);
  if (length $image) {
    $same = file_image($name, (stat _)[2], -s _) eq $image;
    $now  = substr($stat, $TIMES_IN_STAT, $TIMES);
  } else {
    $now  = file_times($name);
    $same = $now ne '' && last_change($now) eq last_change($then);
  }
  return '!' unless $same;
  return '~' if last_change($now) ne last_change($then);
  return last_read($now) ne last_read($then) ? '?' : '';
}

sub remove_tree {
  my ($path) = @_;
  return unless lstat $path;
  if (-d _) {
    empty_directory($path);
    rmdir $path or die "cannot remove $path: $!\n";
  } else {
    unlink $path or die "cannot remove $path: $!\n";
  }
  return;
}

sub empty_directory {
  my ($path) = @_;
  my $handle;
  opendir($handle, $path) or chmod(0700, $path) && opendir($handle, $path) or die "cannot read $path: $!\n";
  chmod 0700, $path if !-w $path || !-x _;
  my @names = readdir $handle;
  closedir $handle;
  for my $name (@names) { remove_tree("$path/$name") unless $name eq '.' || $name eq '..' }
  return;
}
