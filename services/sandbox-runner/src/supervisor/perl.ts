/**
 * The sealed supervisor: PID 1 of a sandbox, in Perl without any module.
 *
 * Every Debian and Ubuntu image carries perl-base, it starts in 3 ms, and, unlike node or sh, it can
 * call prctl(2). That matters more than anything else here: the supervisor's word "this command
 * exited 0" decides what lands, and the code under test runs with the same uid.
 *
 * Invariants:
 *   P1  The code under test never holds the frame stream. It gets pipes of its own as 0, 1 and 2,
 *       everything else is close-on-exec.
 *   P2  It cannot open the frame stream either. The supervisor is not dumpable, so /proc/1/fd, /proc/1/mem,
 *       ptrace and pidfd_getfd are refused by the kernel. hello says `sealed=1` only if the kernel confirms it.
 *   P3  It cannot stop or kill the supervisor: PID 1 ignores what its own namespace sends, SIGKILL included.
 *   P4  A step ends with its whole process tree: after the command's exit everything left in the PID
 *       namespace is killed and reaped before the exit frame is written. Nothing of one step sees the next.
 *   P5  Where the kernel has Landlock, each step runs in a domain of its own: writing is limited to /workspace, /tmp
 *       and /dev (so no /proc/<pid>/mem), signals and ptrace do not leave the domain.
 *   P6  Output in crumbs is gathered: after 32 small pieces in a row there is a millisecond between two, so a program
 *       that writes byte by byte cannot keep the runner busy with frames.
 *   P7  When the runner is gone its end of stdin closes; the supervisor exits, and with PID 1 goes the container.
 *   P8  A step is killed by itself when asked to: everything in the PID namespace but this process. The exit frame does
 *       not wait for the end of the input; what comes of it later is dropped.
 *   P9  A network is one listener on 127.0.0.1, opened only when the runner asks, whose connections are carried as
 *       frames and judged outside (services/egress-gateway). They end with their step, and none holds more than its
 *       credit: 256 KiB each way, so no connection can fill memory or starve another.
 *   P10 Where it was carried into the container (adapters/supervisor-pack.ts), its files are unlinked before it says
 *       hello: what it runs from cannot be opened, and so not changed, by anybody.
 *   P11 What differs in /workspace is found here and said as a proposal: M keeps the small files' contents in this process,
 *       whose memory nothing in the container can reach (P2), before the first command; L compares bytes, never
 *       time stamps, which a shared mapping does not touch. What is taken out by T is judged outside as ever (S2, C1-C5).
 *       It opens only names it remembers, never follows a link and never waits (O_NOFOLLOW, O_NONBLOCK), whatever is in
 *       the place of a file now.
 *   P12 It runs as PID 1 of a namespace or not at all: what ends a step (P4) would end every process of a host.
 *
 * Frames, both ways: one type letter, a space, nine digits, a newline, then that many bytes.
 *   in   R run: cwd NUL argc NUL argv... NUL KEY=value...    I stdin bytes    E end of stdin    K kill the step
 *        N listen on this port
 *        M remember the workspace    L look: names of what differs, as output    T take: a tar of the named paths, as output
 *   out  h hello    m remembered: files kept    o stdout    e stderr    w stdin bytes read    x exit: code signal oomKills pidsRefused freeBytes freeInodes    f fatal
 *        n listening: "ok", or why not
 * Of connection u32 id (P9), after an N:
 *   in   D bytes for it    G u32 more may be sent    S no more bytes come    Q drop it
 *   out  c it was opened    d bytes from it    g u32 bytes were taken    s its client sends no more    q it is gone
 */
export const PERL_SUPERVISOR = String.raw`
$$ == 1 or die "a supervisor is PID 1 of its sandbox, or nothing\n";
$^F = 2; $| = 1; umask 022; if (opendir(my $h, '/tmp/.antiphon')) { unlink "/tmp/.antiphon/$_" for readdir $h; closedir $h; rmdir '/tmp/.antiphon' }
 $SIG{PIPE} = 'IGNORE'; $SIG{HUP} = 'IGNORE';
open(my $self, '<', '/proc/self/exe') or die "no /proc\n"; binmode $self; sysread($self, my $elf, 20); close $self;
my $x86 = unpack('v', substr($elf, 18, 2)) == 62;
my ($PRCTL, $STATFS, $SETSID) = $x86 ? (157, 137, 112) : (167, 43, 157);
my ($PIDFD, $LL_CREATE, $LL_RULE, $LL_SELF) = (434, 444, 445, 446);
syscall($PRCTL, 4, 0, 0, 0, 0);
my $sealed = (syscall($PRCTL, 3, 0, 0, 0, 0) == 0 && $$ == 1) ? 1 : 0;
my $abi = syscall($LL_CREATE, 0, 0, 1); $abi = 0 if $abi < 0;

sub put { my ($t, $p) = @_; my $b = sprintf("%s %09d\n", $t, length $p) . $p; my $o = 0;
  while ($o < length $b) { my $n = syswrite(STDOUT, $b, length($b) - $o, $o); exit 1 unless defined $n; $o += $n } }
sub slurp { open(my $f, '<', $_[0]) or return ''; local $/; my $s = <$f>; close $f; $s }
sub count { my ($key, @files) = @_; for my $f (@files) { return $1 if slurp($f) =~ /^$key (\d+)/m } 0 }
sub ooms { count('oom_kill', '/sys/fs/cgroup/memory.events', '/sys/fs/cgroup/memory/memory.oom_control') }
sub pids { count('max', '/sys/fs/cgroup/pids.events', '/sys/fs/cgroup/pids/pids.events') }
sub room { my $b = "\0" x 256; my $d = $_[0]; return (-1, -1) if syscall($STATFS, $d, $b) != 0;
  my @q = unpack('q15', $b); ($q[1] * $q[4], $q[6]) }
sub confine { return unless $abi;
  my $write = 2 | ($abi >= 2 ? 0x2000 : 0) | ($abi >= 3 ? 0x4000 : 0);
  my $attr = pack('QQQ', $write, 0, 3); my $size = $abi >= 6 ? 24 : 8;
  my $r = syscall($LL_CREATE, $attr, $size, 0); $r >= 0 or die "landlock: $!\n";
  for my $dir ('/workspace', '/tmp', '/dev') {
    sysopen(my $d, $dir, 0x280000) or next; my $rule = pack('QL', $write, fileno $d);
    syscall($LL_RULE, $r, 1, $rule, 0); close $d }
  syscall($LL_SELF, $r, 0) == 0 or die "landlock: $!\n" }
sub reap_all { while (1) { kill 9, -1; my $p = waitpid(-1, 1); last if $p < 0; select(undef, undef, undef, 0.001) if $p == 0 } }

my ($in, $eof) = ('', 0);
sub fill { my $n = sysread(STDIN, $in, 262144, length $in); exit 0 unless $n; }
sub frame { return unless $in =~ /^(.) (\d{9})\n/s; return if length($in) < 12 + $2;
  my ($t, $p) = ($1, substr($in, 12, $2)); substr($in, 0, 12 + $2) = ''; ($t, $p) }

my ($lis, %net, $nets) = (undef); $nets = 0;
sub net_listen { my ($port) = @_; return put('n', 'ok') if $lis; my $s;
  socket($s, 2, 1, 6) && setsockopt($s, 1, 2, pack('l', 1)) && bind($s, pack('S n a4 x8', 2, $port, "\x7f\0\0\1"))
    && listen($s, 64) or return put('n', "$!");
  fcntl($s, 4, 2048); $lis = $s; put('n', 'ok') }
sub net_frame { my ($t, $p) = @_; return 0 unless $t =~ /^[DGSQ]$/; my $id = unpack 'N', $p; my $c = $net{$id} or return 1;
  if ($t eq 'D') { $c->{out} .= substr($p, 4) } elsif ($t eq 'G') { $c->{credit} += unpack 'x4 N', $p }
  elsif ($t eq 'S') { $c->{done} = 1; net_write($id) } else { close $c->{s}; delete $net{$id} } 1 }
sub net_drop { my ($id) = @_; close $net{$id}{s}; delete $net{$id}; put('q', pack 'N', $id) }
sub net_accept { for (1 .. 64) { return if keys %net >= 64; my $s; accept($s, $lis) or return; fcntl($s, 4, 2050);
  $net{++$nets} = { s => $s, out => '', credit => 262144, done => 0, eof => 0 }; put('c', pack 'N', $nets) } }
sub net_read { my ($id) = @_; my $c = $net{$id}; my $n = sysread($c->{s}, my $b, $c->{credit} < 65536 ? $c->{credit} : 65536);
  if ($n) { $c->{credit} -= $n; put('d', pack('N', $id) . $b) }
  elsif (defined $n) { $c->{eof} = 1; put('s', pack 'N', $id); net_drop($id) if $c->{done} == 2 }
  elsif ($! != 11 && $! != 4) { net_drop($id) } }
sub net_write { my ($id) = @_; my $c = $net{$id};
  if (length $c->{out}) { my $n = syswrite($c->{s}, $c->{out}, 65536);
    if ($n) { substr($c->{out}, 0, $n) = ''; put('g', pack 'NN', $id, $n) } elsif ($! != 11 && $! != 4) { return net_drop($id) } }
  if ($c->{done} == 1 && !length $c->{out}) { shutdown($c->{s}, 1); $c->{done} = 2; net_drop($id) if $c->{eof} } }
sub net_end { net_drop($_) for keys %net; return unless $lis; my $s; while (accept($s, $lis)) { close $s } }

my %kept; my ($page, $st) = ("\0" x 65536, "\0" x 256);
my ($OPEN, $READ, $CLOSE, $FSTAT, $EXIT, $NOFOLLOW, $MODE) = $x86 ? (257, 0, 3, 5, 231, 0x20000, 24) : (56, 63, 57, 80, 94, 0x8000, 16);
my $CALM = $NOFOLLOW | 0x800;
sub enter { my ($d, $h) = @_; chdir "/workspace/$d" and opendir($h, '.') or die "cannot read $d: $!\n"; readdir $h }
sub whole { my ($f, $m, $size) = @_; my $fd = syscall($OPEN, -100, $f, $CALM, 0); return '' if $fd < 0;
  my $n = syscall($FSTAT, $fd, $st) || syscall($READ, $fd, $page, 65536); syscall($CLOSE, $fd);
  my ($head, $long) = (substr($st, $MODE, 4), substr($st, 48, 8));
  $n == $size && unpack('L', $head) == $m && unpack('Q', $long) == $size ? $head . $long . substr($page, 0, $n) : '' }
sub remember { %kept = (); my ($left, $n, @dirs) = (33554432, 0, '');
  while (defined(my $d = pop @dirs)) { my $was = $kept{$d} = {};
    for my $f (enter($d)) { next if $f eq '.' || $f eq '..' || $f eq '.git' || !lstat $f;
      if (-d _ && length "$d$f" <= 1024) { push @dirs, "$d$f/"; next }
      my $b = -s _ >= 65536 || -s _ > $left ? '' : -f _ ? whole($f, (stat _)[2], -s _) : -l _ ? 'l' . readlink $f : '';
      $was->{$f} = $b; $left -= length $b; $n++ if length $b } }
  chdir '/'; put('m', $n) }
sub out { my ($b) = @_; my $o = 0; while ($o < length $b) { my $n = syswrite(STDOUT, $b, length($b) - $o, $o) or exit 1; $o += $n } }
sub look { my ($b, @dirs, %been) = ('', ''); my $say = sub { $b .= $_[0] . "\0"; if (length $b > 65536) { out($b); $b = '' } };
  while (defined(my $d = pop @dirs)) { my ($was, $n, @not) = ($kept{$d} || {}, 0); $been{$d} = 1; my @all = enter($d);
    for my $f (@all) { my $known = exists $was->{$f};
      if ($known) { $n++; my $fd = syscall($OPEN, -100, $f, $CALM, 0);
        if ($fd >= 0) { my $r = syscall($FSTAT, $fd, $st) || syscall($READ, $fd, $page, 65536); syscall($CLOSE, $fd);
          next if $r >= 0 && substr($st, $MODE, 4) . substr($st, 48, 8) . substr($page, 0, $r) eq $was->{$f} } }
      next if $f eq '.' || $f eq '..' || $f eq '.git';
      if (!lstat $f) { push @not, $f }
      elsif (-d _ && length "$d$f" <= 1024) { push @not, $f; push @dirs, "$d$f/" }
      else { $say->("+$d$f") unless $known && -l _ && 'l' . readlink($f) eq $was->{$f}; next }
      $n-- if $known }
    if ($n < keys %$was) { my %there; @there{@all} = (); delete @there{@not}; exists $there{$_} or $say->("-$d$_") for keys %$was } }
  for my $d (keys %kept) { next if $been{$d}; $say->("-$d$_") for keys %{$kept{$d}} } out($b) }
sub header { my ($name, $mode, $size, $type, $to) = @_; $to = '' unless defined $to; my $more = '';
  for (['L', $name], ['K', $to]) { my ($t, $s) = @$_;
    $more .= header('long', 0, 1 + length $s, $t) . "$s\0" . "\0" x (-(1 + length $s) % 512) if length $s > 100 }
  my $h = pack('a100 a8 a8 a8 a12 a12 A8 a1 a100 a8 x247', $name, sprintf("%07o", $mode & 07777), "0000000", "0000000",
    sprintf("%011o", $size), "00000000000", '', $type, $to, "ustar  \0");
  substr($h, 148, 8) = sprintf("%06o\0 ", unpack('%32C*', $h));
  $more . $h }
sub take { my $names = ''; while (sysread(STDIN, $names, 65536, length $names)) {} my $b = '';
  for my $p (split /\0/, $names) { my ($m, $links, $size) = (lstat "/workspace/$p")[2, 3, 7]; next unless defined $m;
    my $t = $m & 0170000; my $type = $t == 0100000 ? ($links > 1 ? 1 : 0) : { 0120000, 2, 0020000, 3, 0060000, 4, 0010000, 6 }->{$t};
    next unless defined $type; $size = 0 if $type; $size = 68719476735 if $size > 68719476735;
    $b .= header($p, $m, $size, $type, $type == 2 ? readlink "/workspace/$p" : ''); next if $type;
    sysopen(my $f, "/workspace/$p", $NOFOLLOW) or die "cannot read $p: $!\n"; my $left = $size;
    while ($left > 0) { my $n = sysread($f, $b, $left < 65536 ? $left : 65536, length $b) or die "$p ended early\n"; $left -= $n;
      if (length $b > 65536) { out($b); $b = '' } }
    close $f; $b .= "\0" x (-$size % 512) }
  out($b . "\0" x 1024) }

sub run { my ($say, $act) = @_; my ($cwd, $argc, @rest) = split /\0/, $say, -1; my @argv = splice @rest, 0, $argc || 0;
  my ($oom0, $pid0) = (ooms(), pids());
  pipe(my $cr, my $cw) && pipe(my $or, my $ow) && pipe(my $er, my $ew) or return put('f', "pipe: $!");
  my $pid = fork; return put('f', "fork: $!") unless defined $pid;
  if (!$pid) {
    open(STDIN, '<&', $cr); open(STDOUT, '>&', $ow); open(STDERR, '>&', $ew); syscall($SETSID); if ($act) { close $cw; $act->(); syscall($EXIT, 0) }
    %ENV = map { split /=/, $_, 2 } @rest; $SIG{PIPE} = 'DEFAULT'; $SIG{HUP} = 'DEFAULT';
    if (!chdir $cwd) { syswrite(STDERR, "sandbox: cannot enter $cwd: $!\n"); exit 126 }
    confine(); exec { $argv[0] } @argv; my $why = "$!"; my $c = $! == 2 ? 127 : 126;
    syswrite(STDERR, "sandbox: cannot run $argv[0]: $why\n"); exit $c }
  close $cr; close $ow; close $ew;
  fcntl($cw, 4, 2049); fcntl($or, 4, 2048); fcntl($er, 4, 2048);
  my $fd = syscall($PIDFD, $pid, 0); my ($feed, $ended, $status, $crumbs, $over) = ('', 0, undef, 0, 0);
  my %from = (o => $or, e => $er);
  my $take = sub { while (my ($t, $p) = frame()) {
    if ($t eq 'I') { $cw ? ($feed .= $p) : $over || put('w', length $p) } elsif ($t eq 'E') { $ended = 1; return }
    elsif ($t eq 'K') { kill 9, -1 } elsif (!net_frame($t, $p)) { put('f', "frame $t in a step"); exit 1 } } };
  my $pump = sub { my ($k) = @_; my $n = sysread($from{$k}, my $b, 65536);
    if ($n) { put($k, $b); $crumbs = $n < 512 ? $crumbs + 1 : 0 } elsif (defined $n) { close $from{$k}; delete $from{$k} } $n };
  until (defined $status) {
    $take->();
    my ($r, $w) = ('', ''); vec($r, 0, 1) = 1 if length $feed < 4194304;
    vec($r, fileno $_, 1) = 1 for values %from; vec($r, $fd, 1) = 1 if $fd >= 0;
    vec($w, fileno $cw, 1) = 1 if $cw && length $feed;
    vec($r, fileno $lis, 1) = 1 if $lis && keys %net < 64;
    for my $c (values %net) { my $f = fileno $c->{s};
      vec($r, $f, 1) = 1 if !$c->{eof} && $c->{credit} > 0; vec($w, $f, 1) = 1 if length $c->{out} }
    select(undef, undef, undef, 0.001) if $crumbs > 32;
    next if select($r, $w, undef, $fd >= 0 ? 0.25 : 0.005) < 0;
    for my $k (keys %from) { $pump->($k) if vec($r, fileno $from{$k}, 1) }
    if ($lis) { for my $id (keys %net) { my $f = fileno $net{$id}{s};
        net_read($id) if vec($r, $f, 1); net_write($id) if $net{$id} && vec($w, $f, 1) }
      net_accept() if vec($r, fileno $lis, 1) }
    if (vec($r, 0, 1)) { fill(); $take->() }
    if ($cw && length $feed) { my $n = syswrite($cw, $feed, length($feed) > 65536 ? 65536 : length $feed);
      if ($n) { substr($feed, 0, $n) = ''; put('w', $n) }
      elsif (!defined $n && $! != 11) { close $cw; undef $cw; put('w', length $feed); $feed = '' } }
    if ($cw && $ended && !length $feed) { close $cw; undef $cw }
    while ((my $p = waitpid(-1, 1)) > 0) { $status = $? if $p == $pid } }
  syscall($x86 ? 3 : 57, $fd) if $fd >= 0;
  my ($bytes, $inodes) = room('/workspace'); my ($tb, $ti) = room('/tmp');
  $bytes = $tb if $tb >= 0 && $tb < $bytes; $inodes = $ti if $ti >= 0 && $ti < $inodes;
  reap_all(); net_end();
  for my $k (sort keys %from) { while ($pump->($k)) {} }
  close $cw if $cw; undef $cw; $over = 1;
  put('x', join ' ', $status >> 8, $status & 127, ooms() - $oom0, pids() - $pid0, $bytes, $inodes);
  $take->() unless $ended; until ($ended) { fill(); $take->() } }

put('h', "perl sealed=$sealed landlock=$abi");
while (1) { while (my ($t, $p) = frame()) {
  if ($t eq 'R') { run($p) } elsif ($t eq 'M') { remember() } elsif ($t eq 'L') { run('', \&look) } elsif ($t eq 'T') { run('', \&take) } elsif ($t eq 'N') { net_listen($p) }
  elsif ($t ne 'K' && !net_frame($t, $p)) { put('f', "frame $t outside a step"); exit 1 } } fill() }
`;
