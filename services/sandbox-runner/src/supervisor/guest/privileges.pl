# Gives up all of root's privileges, reports that, and becomes the supervisor.

my ($PR_SET_PDEATHSIG, $PR_SET_SECCOMP, $PR_CAPBSET_DROP, $PR_SET_NO_NEW_PRIVS) = (1, 22, 24, 38);
my ($SIGKILL, $SECCOMP_MODE_FILTER) = (9, 2);

must('a session', 'setsid');
for my $capability (0 .. 63) {
  last if syscall($SYS{prctl}, $PR_CAPBSET_DROP, $capability, 0, 0, 0) == -1;    # This kernel has no more capabilities.
}
my $uid = 0 + $o{uid};
must('groups',                  'setgroups', 0,                    0);
must('gid',                     'setresgid', $uid,                 $uid,     $uid);
must('uid',                     'setresuid', $uid,                 $uid,     $uid);
must('death with the launcher', 'prctl',     $PR_SET_PDEATHSIG,    $SIGKILL, 0, 0, 0);
must('no new privileges',       'prctl',     $PR_SET_NO_NEW_PRIVS, 1,        0, 0, 0);

# struct sock_fprog: the number of 8-byte instructions, padding, their address.
my $filter  = pack 'H*',     $x86 ? $o{x64} : $o{arm64};
my $program = pack 'S x6 P', length($filter) / 8, $filter;
must('the filter', 'prctl', $PR_SET_SECCOMP, $SECCOMP_MODE_FILTER, $program, 0, 0);

%ENV = (PATH => '/usr/local/bin:/usr/bin:/bin');
syswrite(STDOUT, sprintf("%s memory=%d processes=%d\n", $o{token}, $enforced{memory} || 0, $enforced{processes} || 0));
exec {$^X} 'perl', '-e', pack('H*', $o{supervisor});
exit 127;
