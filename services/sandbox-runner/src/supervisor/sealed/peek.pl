# Reads the workspace while a command waits for the answer to its question: what `L`, `U` or `T` tell between two commands. A
# process of its own reads, since it may fail, and this one passes on what it says and serves nothing else meanwhile. It shares
# its user with the command, so what it says is no more than a proposal.

sub peek {
  my ($payload) = @_;
  my ($what, $names) = $payload =~ /\A([LUT])(.*)\z/s or return send_frame('y', 1);
  pipe(my $out, my $child_out) or return send_frame('y', 1);
  my $pid = fork;
  if (defined $pid && $pid == 0) {
    close $out;
    open(STDIN,  '<', '/dev/null');
    open(STDOUT, '>&', $child_out);
    open(STDERR, '>', '/dev/null');
    syscall($SYS_SETSID);
    my $done = eval {
      if    ($what eq 'L') { tell_differences() }
      elsif ($what eq 'U') { tell_upper() }
      else                 { send_archive($names) }
      1;
    };
    syscall($SYS_EXIT_GROUP, $done ? 0 : 1);
  }
  close $child_out;
  while (defined $pid) {
    my $read = sysread($out, my $bytes, 65536);
    next if !defined $read && $! == $EINTR;
    last unless $read;
    send_frame('v', $bytes);
  }
  close $out;
  my $failed = !defined $pid || waitpid($pid, 0) != $pid || $? != 0;
  send_frame('y', $failed ? 1 : 0);
  return;
}
