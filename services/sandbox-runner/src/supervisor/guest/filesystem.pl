# New namespaces, and in them only what a sandbox may see: /workspace and /tmp are writable, the rest is read-only.

# Sockets in files that programs of the machine listen at. Mounts already cover those below these directories.
my @sockets = grep { !m{^/(run|proc|dev|tmp|workspace)/} && -S }
  map { m{^\S+(?: +\S+){6} (/.*)$} ? $1 : () } lines_of('/proc/net/unix');

my $NEW_NAMESPACES = 0x6c020000;    # mounts, host name, IPC, PIDs, network
must('new namespaces', 'unshare', $NEW_NAMESPACES);
must_mount('none', '/', '', $PRIVATE_RECURSIVE, '');

# The child is PID 1 of the new namespace. The parent only passes on its exit status.
my $pid = fork;
defined $pid or fail("fork: $!");
if ($pid) {
  waitpid($pid, 0);
  exit($? & 127 ? 128 + ($? & 127) : $? >> 8);
}

must_mount('proc', '/proc', 'proc', $PLAIN, '');

my ($AF_INET, $SOCK_DGRAM, $SIOCSIFFLAGS, $UP_AND_RUNNING) = (2, 2, 0x8914, 0x41);
my $loopback = pack('a16 s x22', 'lo', $UP_AND_RUNNING);
my $socket;
socket($socket, $AF_INET, $SOCK_DGRAM, 0) && ioctl($socket, $SIOCSIFFLAGS, $loopback) or fail("loopback: $!");
close $socket;

mkdir '/workspace';
mkdir '/tmp';
for my $directory (qw(/run /var/run)) {
  must_mount('tmpfs', $directory, 'tmpfs', $PLAIN, 'size=4096,mode=0755') if -d $directory && !-l $directory;
}
for my $path (@sockets) { try_mount('/dev/null', $path, '', $BIND, '') or $! == $ENOENT or fail("mount $path: $!") }

# Every existing mount becomes read-only. A mount that is hidden below another is unreachable, so it may refuse.
my @mounts = map { my $path = (split)[4]; $path =~ s/\\(\d{3})/chr oct $1/ge; $path } lines_of('/proc/self/mountinfo');
must_mount(@$_, '', $BIND, '') for @own_groups;
my %done;
for my $path (@mounts, map { $_->[1] } @own_groups) {
  next if $path =~ m{^/(proc|dev)(/|$)} || $done{$path}++;
  try_mount('none', $path, '', $REMOUNT | $BIND | $RDONLY | $NOSUID | $NODEV, '')
    or $! == $ENOENT
    or $! == $EINVAL && $path ne '/'
    or fail("read-only $path: $!");
}

# A /dev with six devices is assembled at /workspace and then moved to its place.
must_mount('tmpfs', '/workspace', 'tmpfs', $NOSUID | $NOEXEC, 'size=65536,mode=0755');
for my $device (qw(null zero full random urandom tty)) {
  open(my $file, '>', "/workspace/$device") or fail("/dev: $!");
  close $file;
  must_mount("/dev/$device", "/workspace/$device", '', $BIND, '');
}
mkdir '/workspace/shm';
symlink '/proc/self/fd', '/workspace/fd';
my @standard = qw(stdin stdout stderr);
symlink "/proc/self/fd/$_", "/workspace/$standard[$_]" for 0 .. 2;
must_mount('/workspace', '/dev', '', $MOVE, '');

my $owner = "mode=0700,uid=$o{uid},gid=$o{uid}";
must_mount('tmpfs', '/dev/shm',   'tmpfs', $PLAIN,                                         "size=$o{shm},$owner");
must_mount('none',  '/dev',       '',      $REMOUNT | $BIND | $RDONLY | $NOSUID | $NOEXEC, '');
must_mount('tmpfs', '/tmp',       'tmpfs', $NOSUID | $NODEV, "size=$o{tmp},nr_inodes=$o{tmpInodes},$owner");
must_mount('tmpfs', '/workspace', 'tmpfs', $NOSUID | $NODEV, "size=$o{workspace},nr_inodes=$o{workspaceInodes},$owner");
my $host = 'sandbox';
syscall($SYS{sethostname}, $host, length $host);
chdir '/workspace' or fail("/workspace: $!");
