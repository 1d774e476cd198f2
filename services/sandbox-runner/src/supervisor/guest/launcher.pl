# Runs once as root of a machine that a service provides: makes a sandbox of it and becomes the supervisor (guest.ts).
# `%o` is defined before this text: token, uid, memory, pids, cpu, workspace, workspaceInodes, tmp, tmpInodes, shm, and
# in hexadecimal x64, arm64 (seccomp filters) and supervisor.

$|  = 1;
$^F = 2;    # Every descriptor above 2 is close-on-exec.
umask 022;
$SIG{PIPE} = 'DEFAULT';
unlink $0 if -f $0;

sub fail {
  my ($why) = @_;
  syswrite(STDOUT, "$o{token} failed: $why\n");
  exit 111;
}

# The processor, from the ELF header of perl itself: 62 is x86-64, anything else is taken for arm64.
open(my $perl, '<', '/proc/self/exe') or fail('no /proc');
binmode $perl;
sysread($perl, my $elf, 20);
close $perl;
my $x86 = unpack('v', substr($elf, 18, 2)) == 62;

my %X86_CALLS = (
  mount     => 165, unshare   => 272, prctl     => 157, setsid      => 112,
  setgroups => 116, setresuid => 117, setresgid => 119, sethostname => 170,
);
my %ARM_CALLS = (
  mount     => 40, unshare   => 97, prctl     => 167, setsid      => 157,
  setgroups => 159, setresuid => 147, setresgid => 149, sethostname => 161,
);
my %SYS = $x86 ? %X86_CALLS : %ARM_CALLS;
my ($RDONLY, $NOSUID, $NODEV, $NOEXEC, $REMOUNT, $BIND, $MOVE, $PRIVATE_RECURSIVE) = (1, 2, 4, 8, 32, 4096, 8192, 0x44000);
my $PLAIN = $NOSUID | $NODEV | $NOEXEC;
my ($ENOENT, $EINVAL) = (2, 22);

# A system call that has to succeed. `$what` names it in the failure.
sub must {
  my ($what, $call, @arguments) = @_;
  syscall($SYS{$call}, @arguments) == -1 and fail("$what: $!");
  return;
}

# Perl passes the address of a string and the value of a number, so each argument is converted to the right one.
sub try_mount {
  my ($from, $to, $type, $flags, $data) = map { "$_" } @_;
  return syscall($SYS{mount}, $from, $to, $type, 0 + $flags, $data) == 0;
}

sub must_mount {
  my (@arguments) = @_;
  try_mount(@arguments) or fail("mount $arguments[1]: $!");
  return;
}

# False when the file could not be written.
sub write_file {
  my ($path, $text) = @_;
  open(my $file, '>', $path) or return 0;
  my $written = syswrite($file, $text);
  return close($file) && defined $written ? 1 : 0;
}

sub lines_of {
  my ($path) = @_;
  open(my $file, '<', $path) or return;
  my @lines = <$file>;
  close $file;
  return @lines;
}

$> == 0 or fail('not root in the machine');
