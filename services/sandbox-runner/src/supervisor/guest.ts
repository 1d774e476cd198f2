/**
 * What turns a virtual machine that somebody else made into a sandbox like the others: run once as its root, it makes
 * the namespaces, mounts and limits, gives up everything, and becomes the supervisor of perl.ts.
 *
 * A provider of machines gives a machine with a writable disk, its own agent and, often, a network. The code under test
 * shall find what it finds in a container: /workspace and /tmp of their sizes, nothing else to write, user 65532
 * without a capability, and no interface but loopback, whatever the machine itself can reach.
 *
 * Invariants:
 *   V1  Nothing is run before all of it holds: the first line says so, or which part could not be had.
 *   V2  The network namespace is new and empty. What the machine can reach (its agent, metadata, the internet), the code
 *       in it cannot. A socket in a file is in no network: /run is empty in here, and the others that programs of the
 *       machine listen at when it is made are covered.
 *   V3  The supervisor is PID 1 of its own PID namespace in a session without a terminal: neither /dev/tty nor the
 *       launcher leads back to the stream its frames go through.
 *   V4  A limit the machine's kernel cannot enforce is reported as such and never as there.
 *
 * First line out: `<token> memory=<0|1> processes=<0|1>`, or `<token> failed: <reason>` and the end.
 */
import type { ContainerLimits } from "../ports.ts";
import { SANDBOX_UID, SHM_BYTES } from "../core/container-spec.ts";
import { seccompFilter } from "../core/seccomp-filter.ts";
import { PERL_SUPERVISOR } from "./perl.ts";

const LAUNCHER = String.raw`
$| = 1; $^F = 2; umask 022; $SIG{PIPE} = 'DEFAULT'; unlink $0 if -f $0;
open(my $self, '<', '/proc/self/exe') or fail('no /proc'); binmode $self; sysread($self, my $elf, 20); close $self;
my $x86 = unpack('v', substr($elf, 18, 2)) == 62;
my %nr = $x86 ? (mount => 165, unshare => 272, prctl => 157, setsid => 112, groups => 116, uid => 117, gid => 119, name => 170)
              : (mount => 40, unshare => 97, prctl => 167, setsid => 157, groups => 159, uid => 147, gid => 149, name => 161);
my ($RO, $NOSUID, $NODEV, $NOEXEC, $REMOUNT, $BIND, $MOVE) = (1, 2, 4, 8, 32, 4096, 8192);
sub fail { syswrite(STDOUT, "$o{token} failed: $_[0]\n"); exit 111 }
sub sys { my ($what, $nr, @a) = @_; syscall($nr, @a) == -1 ? fail("$what: $!") : 1 }
sub mounted { my ($from, $to, $type, $flags, $data) = map { "$_" } @_; syscall($nr{mount}, $from, $to, $type, 0 + $flags, $data) == 0 }
sub mnt { mounted(@_) or fail("mount $_[1]: $!") }
sub put { my ($f, $v) = @_; open(my $h, '>', $f) or return 0; my $n = syswrite($h, $v); close($h) && defined $n ? 1 : 0 }
sub lines { open(my $h, '<', $_[0]) or return (); my @l = <$h>; close $h; @l }
$> == 0 or fail('not root in the machine');

my ($kib) = map { /^MemTotal:\s+(\d+)/ ? $1 : () } lines('/proc/meminfo');
my $room = $kib * 1024 - 64 * 1048576; $o{memory} = $room if $room > 0 && $room < $o{memory};
my ($top, $name, %held, @seen) = ('/sys/fs/cgroup', "antiphon-$$");
if (-e "$top/cgroup.controllers") {
  unless (put("$top/cgroup.subtree_control", '+memory')) {
    mkdir "$top/antiphon-machine"; for my $p (lines("$top/cgroup.procs")) { chomp $p; put("$top/antiphon-machine/cgroup.procs", $p) } }
  put("$top/cgroup.subtree_control", "+$_") for qw(memory pids cpu);
  my $d = "$top/$name"; mkdir $d; $held{memory} = put("$d/memory.max", $o{memory}); put("$d/memory.swap.max", 0);
  $held{processes} = put("$d/pids.max", $o{pids}); put("$d/cpu.max", "$o{cpu} 100000");
  if (-d $d) { put("$d/cgroup.procs", $$) or @held{qw(memory processes)} = (0, 0); @seen = ([$d, $top]) }
} else {
  for my $c (qw(memory pids cpu)) { my $d = "$top/$c/$name"; next unless -d "$top/$c" && mkdir $d;
    my $set = $c eq 'memory' ? put("$d/memory.limit_in_bytes", $o{memory}) : $c eq 'pids' ? put("$d/pids.max", $o{pids})
      : put("$d/cpu.cfs_quota_us", $o{cpu});
    put("$d/memory.memsw.limit_in_bytes", $o{memory}) if $c eq 'memory';
    $held{$c eq 'pids' ? 'processes' : $c} = $set && put("$d/cgroup.procs", $$); push @seen, [$d, "$top/$c"] } }

my @sockets = grep { !m{^/(run|proc|dev|tmp|workspace)/} && -S } map { m{^\S+(?: +\S+){6} (/.*)$} ? $1 : () } lines('/proc/net/unix');
sys('new namespaces', $nr{unshare}, 0x6c020000);
mnt('none', '/', '', 0x44000, '');
my $pid = fork; defined $pid or fail("fork: $!");
if ($pid) { waitpid($pid, 0); exit($? & 127 ? 128 + ($? & 127) : $? >> 8) }

mnt('proc', '/proc', 'proc', $NOSUID | $NODEV | $NOEXEC, '');
my $up = pack('a16 s x22', 'lo', 0x41); my $s; socket($s, 2, 2, 0) && ioctl($s, 0x8914, $up) or fail("loopback: $!"); close $s;
mkdir '/workspace'; mkdir '/tmp';
for my $d (qw(/run /var/run)) { mnt('tmpfs', $d, 'tmpfs', $NOSUID | $NODEV | $NOEXEC, 'size=4096,mode=0755') if -d $d && !-l $d }
for my $f (@sockets) { mounted('/dev/null', $f, '', $BIND, '') or $! == 2 or fail("mount $f: $!") }
my @extra = map { my $t = (split)[4]; $t =~ s/\\(\d{3})/chr oct $1/ge; $t } lines('/proc/self/mountinfo');
mnt(@$_, '', $BIND, '') for @seen;
my %done; for my $t (@extra, map { $_->[1] } @seen) {
  next if $t =~ m{^/(proc|dev)(/|$)} || $done{$t}++;
  mounted('none', $t, '', $REMOUNT | $BIND | $RO | $NOSUID | $NODEV, '') or $! == 2 || $! == 22 && $t ne '/'
    or fail("read-only $t: $!") }
my $own = "mode=0700,uid=$o{uid},gid=$o{uid}";
mnt('tmpfs', '/workspace', 'tmpfs', $NOSUID | $NOEXEC, 'size=65536,mode=0755');
for my $d (qw(null zero full random urandom tty)) { open(my $h, '>', "/workspace/$d") or fail("/dev: $!"); close $h;
  mnt("/dev/$d", "/workspace/$d", '', $BIND, '') }
mkdir '/workspace/shm'; symlink '/proc/self/fd', '/workspace/fd';
my @std = qw(stdin stdout stderr); symlink "/proc/self/fd/$_", "/workspace/$std[$_]" for 0 .. 2;
mnt('/workspace', '/dev', '', $MOVE, ''); mnt('tmpfs', '/dev/shm', 'tmpfs', $NOSUID | $NODEV | $NOEXEC, "size=$o{shm},$own");
mnt('none', '/dev', '', $REMOUNT | $BIND | $RO | $NOSUID | $NOEXEC, '');
mnt('tmpfs', '/tmp', 'tmpfs', $NOSUID | $NODEV, "size=$o{tmp},nr_inodes=$o{tmpInodes},$own");
mnt('tmpfs', '/workspace', 'tmpfs', $NOSUID | $NODEV, "size=$o{workspace},nr_inodes=$o{workspaceInodes},$own");
my $host = 'sandbox'; syscall($nr{name}, $host, 7); chdir '/workspace' or fail("/workspace: $!");

sys('a session', $nr{setsid});
for my $cap (0 .. 63) { last if syscall($nr{prctl}, 24, $cap, 0, 0, 0) == -1 }
sys('groups', $nr{groups}, 0, 0); sys('gid', $nr{gid}, 0 + $o{uid}, 0 + $o{uid}, 0 + $o{uid}); sys('uid', $nr{uid}, 0 + $o{uid}, 0 + $o{uid}, 0 + $o{uid});
sys('death with the launcher', $nr{prctl}, 1, 9, 0, 0, 0); sys('no new privileges', $nr{prctl}, 38, 1, 0, 0, 0);
my $filter = pack 'H*', $x86 ? $o{x64} : $o{arm64}; my $program = pack 'S x6 P', length($filter) / 8, $filter;
sys('the filter', $nr{prctl}, 22, 2, $program, 0, 0);
%ENV = (PATH => '/usr/local/bin:/usr/bin:/bin');
syswrite(STDOUT, sprintf("%s memory=%d processes=%d\n", $o{token}, $held{memory} || 0, $held{processes} || 0));
exec { $^X } 'perl', '-e', pack('H*', $o{supervisor}); exit 127;
`;

/** A Perl program for the root of a machine; `token` begins its first line, so that nothing before it is taken for it. */
export function guestProgram(limits: ContainerLimits, token: string): string {
  const settings: Readonly<Record<string, string | number>> = {
    token,
    uid: SANDBOX_UID,
    memory: limits.memoryBytes,
    pids: limits.pids,
    cpu: Math.round(limits.cpus * 100_000),
    workspace: limits.workspaceBytes,
    workspaceInodes: limits.workspaceInodes,
    tmp: limits.tmpBytes,
    tmpInodes: limits.tmpInodes,
    shm: SHM_BYTES,
    x64: hex(seccompFilter("x64")),
    arm64: hex(seccompFilter("arm64")),
    supervisor: hex(Buffer.from(PERL_SUPERVISOR, "utf8")),
  };
  const words = Object.entries(settings).map(([name, value]) => `${name} => '${value}'`);
  return `our %o = (${words.join(", ")});\n${LAUNCHER}`;
}

function hex(bytes: Buffer | null): string {
  return bytes?.toString("hex") ?? "";
}
