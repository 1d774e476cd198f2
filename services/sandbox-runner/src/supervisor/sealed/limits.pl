# Measures what a step used, and confines it.

sub file_text {
  my ($path) = @_;
  open(my $file, '<', $path) or return '';
  local $/ = undef;
  my $text = <$file>;
  close $file;
  return $text;
}

# A counter of the container's own cgroup, from the first of these files that has the key (cgroup v2, then v1).
sub counter {
  my ($key, @files) = @_;
  for my $file (@files) { return $1 if file_text($file) =~ /^$key (\d+)/m }
  return 0;
}

sub oom_kills {
  return counter('oom_kill', '/sys/fs/cgroup/memory.events', '/sys/fs/cgroup/memory/memory.oom_control');
}

sub refused_forks { return counter('max', '/sys/fs/cgroup/pids.events', '/sys/fs/cgroup/pids/pids.events') }

# Free bytes and inodes of a file system; -1 where they are unknown.
sub free_room {
  my ($path) = @_;
  my $statfs = "\0" x 256;
  return (-1, -1) if syscall($SYS_STATFS, $path, $statfs) != 0;
  my ($block_size, $free_blocks, $free_inodes) = (unpack('q15', $statfs))[1, 4, 6];
  return ($block_size * $free_blocks, $free_inodes);
}

# The directories in memory that this user owns: those that the container was made with.
sub own_directories {
  open my $mounts, '<', '/proc/self/mounts' or return;
  my @found;
  while (my $line = <$mounts>) {
    my (undef, $path, $type, $options) = split / /, $line;
    push @found, $path if $type eq 'tmpfs' && $options =~ /^rw,.*\buid=$>\b/;
  }
  close $mounts;
  return @found;
}

# Called in the child. Where the kernel has Landlock, this process and all its descendants may write below these
# directories only (so not to /proc/<pid>/mem), and their signals do not leave the step.
sub confine {
  return unless $landlock;
  my ($WRITE_FILE, $REFER, $TRUNCATE) = (0x2, 0x2000, 0x4000);
  my $access = $WRITE_FILE;
  $access |= $REFER    if $landlock >= 2;
  $access |= $TRUNCATE if $landlock >= 3;
  my $SCOPE_SOCKETS_AND_SIGNALS = 3;
  my $rules                     = pack('QQQ', $access, 0, $SCOPE_SOCKETS_AND_SIGNALS);
  my $rules_size = $landlock >= 6 ? 24 : 8;                                       # Older kernels have only the first field.
  my $ruleset    = syscall($SYS_LANDLOCK_CREATE_RULESET, $rules, $rules_size, 0);
  $ruleset >= 0 or die "landlock: $!\n";

  # The third is there in a layered sandbox only, others beside a service.
  for my $path ('/workspace', '/tmp', '/home/sandbox', '/dev', own_directories()) {
    sysopen(my $directory, $path, $O_PATH) or next;
    my $rule = pack('QL', $access, fileno $directory);
    syscall($SYS_LANDLOCK_ADD_RULE, $ruleset, 1, $rule, 0);
    close $directory;
  }
  syscall($SYS_LANDLOCK_RESTRICT_SELF, $ruleset, 0) == 0 or die "landlock: $!\n";
  return;
}

# sandbox-runner/S3: kills and reaps until this is the only process of the namespace.
sub end_all_processes {
  while (1) {
    kill 9, -1;
    my $reaped = waitpid(-1, $WNOHANG);
    last        if $reaped < 0;
    pause_ms(1) if $reaped == 0;
  }
  return;
}

sub pause_ms {
  my ($ms) = @_;
  select(undef, undef, undef, $ms / 1000);
  return;
}
