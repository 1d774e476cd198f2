# Finds the files of /workspace that differ from those before the first command. The result is a proposal, which the
# runner judges outside. The remembered contents are in this process, whose memory nothing in the container can read.
# Files are compared by bytes, because a write through a shared mapping need not change a time stamp.
# These loops run over every file of a tree. 5,000 files take 28 ms, 22 of them in the kernel: measure after a change.

my $REMEMBERED_FILE  = 65536;
my $REMEMBERED_TOTAL = 33554432;
my $LONGEST_PATH     = 1024;
my $OPEN_SAFELY      = $O_NOFOLLOW | $O_NONBLOCK;    # Never follows a link, never waits for a fifo.
my $O_NOATIME        = 0x40000;

# By directory (below /workspace, with a slash at its end, '' for itself), then by name: mode, size and bytes of a file;
# 'l' and the target of a link; '' where only the name is remembered.
my %before;

# By directory, then by name: the times of a file as the kernel keeps them, with nanoseconds. No program can set the time
# of the last change.
my %times;

my ($page, $stat) = ("\0" x $REMEMBERED_FILE, "\0" x 256);
my $MODE_IN_STAT = $x86 ? 24 : 16;
my $SIZE_IN_STAT = 48;
my ($TIMES_IN_STAT, $TIMES, $LAST_READ, $LAST_CHANGE) = (72, 48, 0, 32);    # Each of the three takes 16 bytes.

# What a layered sandbox has changed, read-only; upper.pl tells it.
my $UPPER   = '/run/antiphon/upper';
my $layered = -d $UPPER;

sub names_in { return names_within('/workspace', $_[0]) }

# Opens a file in the current directory. Reading it is not to count as the last time that it was read; the kernel refuses
# that for the files of another user.
sub open_quietly {
  my ($name) = @_;
  my $fd = syscall($SYS_OPENAT, $AT_FDCWD, $name, $OPEN_SAFELY | $O_NOATIME, 0);
  return $fd >= 0 ? $fd : syscall($SYS_OPENAT, $AT_FDCWD, $name, $OPEN_SAFELY, 0);
}

sub file_times {
  my ($name) = @_;
  my $fd = open_quietly($name);
  return '' if $fd < 0;
  my $failed = syscall($SYS_FSTAT, $fd, $stat);
  syscall($SYS_CLOSE, $fd);
  return $failed ? '' : substr($stat, $TIMES_IN_STAT, $TIMES);
}

# The remembered form of a file in the current directory, or '' when it is no longer the file that lstat saw. `$stat` is
# that of the file afterwards.
sub file_image {
  my ($name, $mode, $size) = @_;
  my $fd = open_quietly($name);
  return '' if $fd < 0;
  my $read = syscall($SYS_FSTAT, $fd, $stat) || syscall($SYS_READ, $fd, $page, $REMEMBERED_FILE);
  syscall($SYS_CLOSE, $fd);
  my ($raw_mode, $raw_size) = (substr($stat, $MODE_IN_STAT, 4), substr($stat, $SIZE_IN_STAT, 8));
  my $same = $read == $size && unpack('L', $raw_mode) == $mode && unpack('Q', $raw_size) == $size;
  return $same ? $raw_mode . $raw_size . substr($page, 0, $read) : '';
}

# An overlay keeps the time of the last read only for files of its top. One that is opened for writing gets there.
sub lift {
  my (@paths) = @_;
  for my $path (@paths) {
    sysopen(my $file, "/workspace/$path", $O_RDWR | $OPEN_SAFELY) or next;
    close $file;
  }
  return;
}

# True when a directory is one of these or lies below one. All end with a slash.
sub is_within {
  my ($directory, $places) = @_;
  for (my $end = length $directory; $end > 0; $end = rindex($directory, '/', $end - 2) + 1) {
    return 1 if $places->{ substr $directory, 0, $end };
  }
  return 0;
}

# The names in a directory that the top of a layered sandbox has. All others are as in the layers.
sub in_top {
  my ($directory) = @_;
  my %top;
  @top{ names_within($UPPER, $directory) } = ();
  return \%top;
}

# How many bytes may still be remembered.
my $left = 0;

# Over layers, what was remembered before still holds for all that the top does not have.
sub remember_workspace {
  my $again = $layered && %before;
  %before = %times = () unless $again;
  $left   = $REMEMBERED_TOTAL;
  remember_below($again, { '' => undef });
  return;
}

# The same after nothing but these files and directories was put in or removed. Not for a layered sandbox.
sub remember_again {
  my (@paths) = @_;
  my %chosen;
  for my $path (@paths) {
    my ($directory, @parts) = ('', split m{/}, $path);
    my $name = pop @parts;
    for my $part (@parts) {
      forget_file($directory, $part);    # A directory may have taken the place of a file.
      $directory .= "$part/";
      last unless -d "/workspace/$directory";
      $before{$directory} ||= {};
      $times{$directory}  ||= {};
    }
    forget_file($directory, $name);
    my $below = "$directory$name/";
    for my $gone ($before{$below} ? grep { index($_, $below) == 0 } keys %before : ()) {
      delete @$_{$gone} for \(%before, %times);
    }
    push @{ $chosen{$directory} }, $name;
  }
  remember_below(0, \%chosen);
  return;
}

sub forget_file {
  my ($directory, $name) = @_;
  my $image = delete $before{$directory}{$name};
  $left += length $image if defined $image;
  delete $times{$directory}{$name};
  return;
}

# `$chosen`: names by directory, which may be missing; undef for all names in it.
sub remember_below {
  my ($again, $chosen) = @_;
  my ($files, @directories) = (0, keys %$chosen);
  my (%visited, %untouched);
  while (defined(my $directory = pop @directories)) {
    my $top = $again ? in_top($directory) : undef;
    my ($was, $moments_before) = ($before{$directory} || {}, $times{$directory} || {});
    my $some = delete $chosen->{$directory};
    next if $some && !chdir "/workspace/$directory";
    my ($names, $moments) = $some ? ($was, $moments_before) : ({}, {});
    $before{$directory}  = $names;
    $times{$directory}   = $moments;
    $visited{$directory} = 1;
    for my $name ($some ? @$some : names_in($directory)) {
      next if $name eq '.' || $name eq '..' || $name eq '.git';
      if ($top && !exists $top->{$name}) {
        if ($before{"$directory$name/"}) { $untouched{"$directory$name/"} = 1; next }
        if (exists $was->{$name}) {
          $names->{$name}   = $was->{$name};
          $moments->{$name} = $moments_before->{$name} if exists $moments_before->{$name};
          next;
        }
      }
      next unless lstat $name;
      if (-d _ && length "$directory$name" <= $LONGEST_PATH) { push @directories, "$directory$name/"; next }
      my $image = '';
      if (-s _ < $REMEMBERED_FILE && -s _ <= $left) {
        if    (-f _) { $image = file_image($name, (stat _)[2], -s _) }
        elsif (-l _) { $image = 'l' . readlink $name }
      }
      $names->{$name} = $image;
      if (-f _) { $moments->{$name} = length $image ? substr($stat, $TIMES_IN_STAT, $TIMES) : file_times($name) }
      $left -= length $image;
      $files++ if length $image;
    }
  }
  for my $directory ($again ? keys %before : ()) {
    delete @$_{$directory} for $visited{$directory} || is_within($directory, \%untouched) ? () : (\%before, \%times);
  }
  close_again();
  chdir '/';
  send_frame('m', $files);
  return;
}

# Writes '+path' for each new or changed file and '-path' for each missing one, each ended by a NUL.
sub tell_differences {
  my ($told, @directories, %seen) = ('', '');
  my $tell = sub {
    $told .= $_[0] . "\0";
    if (length $told > 65536) { write_out($told); $told = '' }
  };
  while (defined(my $directory = pop @directories)) {
    my ($was, $still_there, @not_files) = ($before{$directory} || {}, 0);
    $seen{$directory} = 1;
    my @names = names_in($directory);
    for my $name (@names) {
      my $known = exists $was->{$name};
      if ($known) {
        $still_there++;
        my $fd = syscall($SYS_OPENAT, $AT_FDCWD, $name, $OPEN_SAFELY, 0);
        if ($fd >= 0) {
          my $read = syscall($SYS_FSTAT, $fd, $stat) || syscall($SYS_READ, $fd, $page, $REMEMBERED_FILE);
          syscall($SYS_CLOSE, $fd);
          next
            if $read >= 0
            && substr($stat, $MODE_IN_STAT, 4) . substr($stat, $SIZE_IN_STAT, 8) . substr($page, 0, $read) eq $was->{$name};
        }
      }
      next if $name eq '.' || $name eq '..' || $name eq '.git';
      if (!lstat $name) {
        push @not_files, $name;
      } elsif (-d _ && length "$directory$name" <= $LONGEST_PATH) {
        push @not_files,   $name;
        push @directories, "$directory$name/";
      } else {
        $tell->("+$directory$name") unless $known && -l _ && 'l' . readlink($name) eq $was->{$name};
        next;
      }
      $still_there-- if $known;
    }
    if ($still_there < keys %$was) {
      my %there;
      @there{@names} = ();
      delete @there{@not_files};
      exists $there{$_} or $tell->("-$directory$_") for keys %$was;
    }
  }
  for my $directory (keys %before) {
    next if $seen{$directory};
    $tell->("-$directory$_") for keys %{ $before{$directory} };
  }
  close_again();
  write_out($told);
  return;
}
