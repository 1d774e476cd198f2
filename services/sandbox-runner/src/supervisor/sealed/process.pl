# Part 1 of the sealed supervisor: it checks where it runs and seals itself off from the code it supervises.
# program-text.ts joins the parts. No module is loaded, because an image may have none.

# On a host, ending a step would end every process there is.
$$ == 1 or die "a supervisor only runs as PID 1 of a sandbox\n";

$^F = 2;    # sandbox-runner/S2: every descriptor above 2 is close-on-exec.
$|  = 1;
umask 022;

# A supervisor that was carried into the container deletes the files it runs from before its hello, so that no process
# can open or change them.
if (opendir(my $carried, '/tmp/.antiphon')) {
  unlink "/tmp/.antiphon/$_" for readdir $carried;
  closedir $carried;
  rmdir '/tmp/.antiphon';
}

# PID 1 ignores every signal from its own namespace. A broken pipe must be the error of a write, not the end.
$SIG{PIPE} = 'IGNORE';
$SIG{HUP}  = 'IGNORE';

# The processor, from the ELF header of perl itself: 62 is x86-64, anything else is taken for arm64.
open(my $perl, '<', '/proc/self/exe') or die "no /proc\n";
binmode $perl;
sysread($perl, my $elf, 20);
close $perl;
my $x86 = unpack('v', substr($elf, 18, 2)) == 62;

# System calls by number, since POSIX.pm may be missing. The last four have the same number on both.
my ($SYS_PRCTL, $SYS_STATFS, $SYS_SETSID) = $x86 ? (157, 137, 112) : (167, 43, 157);
my ($SYS_OPENAT, $SYS_READ, $SYS_CLOSE, $SYS_FSTAT) = $x86 ? (257, 0, 3, 5) : (56, 63, 57, 80);
my $SYS_EXIT_GROUP = $x86 ? 231 : 94;
my ($SYS_PIDFD_OPEN, $SYS_LANDLOCK_CREATE_RULESET, $SYS_LANDLOCK_ADD_RULE, $SYS_LANDLOCK_RESTRICT_SELF) =
  (434, 444, 445, 446);

my ($PR_GET_DUMPABLE, $PR_SET_DUMPABLE) = (3, 4);
my ($F_SETFL, $O_WRONLY, $O_RDWR, $O_NONBLOCK) = (4, 1, 2, 0x800);
my $O_NOFOLLOW = $x86 ? 0x20000 : 0x8000;
my $O_PATH     = 0x280000;                  # with O_CLOEXEC
my $AT_FDCWD   = -100;
my $WNOHANG    = 1;
my ($ENOENT, $EINTR, $EAGAIN) = (2, 4, 11);

# sandbox-runner/S2: a process that is not dumpable is refused by the kernel for /proc/1/fd, /proc/1/mem, ptrace,
# pidfd_getfd.
syscall($SYS_PRCTL, $PR_SET_DUMPABLE, 0, 0, 0, 0);
my $sealed = syscall($SYS_PRCTL, $PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 ? 1 : 0;

# The version of Landlock, or 0 where the kernel has none.
my $landlock = syscall($SYS_LANDLOCK_CREATE_RULESET, 0, 0, 1);
$landlock = 0 if $landlock < 0;
