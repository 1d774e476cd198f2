# One step: a command with pipes of its own, fed and read until it exits; then its whole process tree is killed.

my $FEED_BOUND  = 4194304;    # Most input held for a command that does not read, in bytes.
my $SMALL_PIECE = 512;

# The child; never returns. `$action` is a part of this program that runs as a step and needs no confinement.
sub become_command {
  my ($input, $output, $errors, $unused, $order, $action) = @_;
  open(STDIN,  '<&', $input);
  open(STDOUT, '>&', $output);
  open(STDERR, '>&', $errors);
  syscall($SYS_SETSID);
  if ($action) {
    close $unused;
    $action->();
    syscall($SYS_EXIT_GROUP, 0);
  }
  my ($directory, $argc, @rest) = split /\0/, $order, -1;
  my @argv = splice @rest, 0, $argc || 0;
  %ENV       = map { split /=/, $_, 2 } @rest;
  $ENV{SHELL} = -x '/bin/bash' ? '/bin/bash' : '/bin/sh' if exists $ENV{SHELL} && $ENV{SHELL} eq '';
  $SIG{PIPE} = 'DEFAULT';
  $SIG{HUP}  = 'DEFAULT';
  if (!chdir $directory) {
    syswrite(STDERR, "sandbox: cannot enter $directory: $!\n");
    exit 126;
  }
  confine();
  exec { $argv[0] } @argv;
  my ($why, $code) = ("$!", $! == $ENOENT ? 127 : 126);
  syswrite(STDERR, "sandbox: cannot run $argv[0]: $why\n");
  exit $code;
}

# Starts a step. `input`: its stdin, undef once closed. `feed`: bytes still to be written there. `no_more`: the runner
# has
# sent the end of the input. `outputs`: the open ones of o (stdout) and e (stderr). `status`: its wait status.
sub start_step {
  my ($order, $action) = @_;
  my %step =
    (feed => '', no_more => 0, small_pieces => 0, over => 0, oom_kills => oom_kills(), refused_forks => refused_forks());
  pipe(my $child_in, my $in) && pipe(my $out, my $child_out) && pipe(my $err, my $child_err)
    or return send_frame('f', "pipe: $!");
  my $pid = fork;
  return send_frame('f', "fork: $!") unless defined $pid;
  become_command($child_in, $child_out, $child_err, $in, $order, $action) if $pid == 0;
  close $_ for $child_in, $child_out, $child_err;
  fcntl($in,  $F_SETFL, $O_WRONLY | $O_NONBLOCK);
  fcntl($out, $F_SETFL, $O_NONBLOCK);
  fcntl($err, $F_SETFL, $O_NONBLOCK);
  @step{qw(pid pidfd input outputs)} = ($pid, syscall($SYS_PIDFD_OPEN, $pid, 0), $in, { o => $out, e => $err });
  return \%step;
}

sub take_frames {
  my ($step) = @_;
  while (my ($type, $payload) = next_frame()) {
    if ($type eq 'I') {
      if    ($step->{input}) { $step->{feed} .= $payload }
      elsif (!$step->{over}) { send_frame('w', length $payload) }    # The command no longer reads.
    } elsif ($type eq 'E') {
      $step->{no_more} = 1;
      return;
    } elsif ($type eq 'K') {
      kill 9, -1;                                                    # All of the PID namespace but this process.
    } elsif ($type eq 'H') {
      give_answer($payload);
    } elsif ($type eq 'V') {
      peek($payload);
    } elsif ($type eq 'B') {
      take_message($payload);
    } elsif (!connection_frame($type, $payload)) {
      fail("frame $type in a step");
    }
  }
  return;
}

# Sends on the available bytes of one output; false at its end and while there are none.
sub carry_output {
  my ($step, $stream) = @_;
  my $read = sysread($step->{outputs}{$stream}, my $bytes, 65536);
  if ($read) {
    send_frame($stream, $bytes);
    $step->{small_pieces} = $read < $SMALL_PIECE ? $step->{small_pieces} + 1 : 0;
  } elsif (defined $read) {
    close $step->{outputs}{$stream};
    delete $step->{outputs}{$stream};
  }
  return $read;
}

sub close_input {
  my ($step) = @_;
  close $step->{input} if $step->{input};
  $step->{input} = undef;
  return;
}

sub feed_input {
  my ($step) = @_;
  if ($step->{input} && length $step->{feed}) {
    my $length  = length $step->{feed};
    my $written = syswrite($step->{input}, $step->{feed}, $length > 65536 ? 65536 : $length);
    if ($written) {
      substr($step->{feed}, 0, $written) = '';
      send_frame('w', $written);
    } elsif (!defined $written && $! != $EAGAIN) {
      close_input($step);
      send_frame('w', $length);
      $step->{feed} = '';
    }
  }
  close_input($step) if $step->{input} && $step->{no_more} && !length $step->{feed};
  return;
}

# Waits until something can be read or written, then reads and writes it.
sub serve_step {
  my ($step) = @_;
  my ($readable, $writable) = ('', '');
  vec($readable, 0, 1) = 1 if length $step->{feed} < $FEED_BOUND;
  vec($readable, fileno $_, 1) = 1 for values %{ $step->{outputs} };
  vec($readable, $step->{pidfd},        1) = 1 if $step->{pidfd} >= 0;
  vec($writable, fileno $step->{input}, 1) = 1 if $step->{input} && length $step->{feed};
  vec($readable, fileno $listener,      1) = 1 if $listener      && keys %connections < $MAX_CONNECTIONS;
  for my $connection (values %connections) {
    my $fd = fileno $connection->{socket};
    vec($readable, $fd, 1) = 1 if !$connection->{ended} && $connection->{credit} > 0;
    vec($writable, $fd, 1) = 1 if length $connection->{outgoing};
  }

  # A program that writes byte by byte must not flood the runner with frames.
  pause_ms(1) if $step->{small_pieces} > 32;
  return if select($readable, $writable, undef, $step->{pidfd} >= 0 ? 0.25 : 0.005) < 0;
  for my $stream (keys %{ $step->{outputs} }) {
    carry_output($step, $stream) if vec($readable, fileno $step->{outputs}{$stream}, 1);
  }
  serve_connections($readable, $writable) if $listener;
  if (vec($readable, 0, 1)) { receive(); take_frames($step) }
  feed_input($step);
  carry_question();
  carry_heard();
  while ((my $ended = waitpid(-1, $WNOHANG)) > 0) { $step->{status} = $? if $ended == $step->{pid} }
  return;
}

sub serve_connections {
  my ($readable, $writable) = @_;
  for my $id (keys %connections) {
    my $fd = fileno $connections{$id}{socket};
    read_connection($id) if vec($readable, $fd, 1);
    write_connection($id) if $connections{$id} && vec($writable, $fd, 1);
  }
  accept_connections() if vec($readable, fileno $listener, 1);
  return;
}

sub run_step {
  my ($order, $action) = @_;
  my $step = start_step($order, $action);
  return unless ref $step;
  until (defined $step->{status}) {
    take_frames($step);
    serve_step($step);
  }
  syscall($SYS_CLOSE, $step->{pidfd}) if $step->{pidfd} >= 0;

  # The free space is measured before the step's processes are killed, which frees what they hold.
  my ($bytes,     $inodes)     = free_room('/workspace');
  my ($tmp_bytes, $tmp_inodes) = free_room('/tmp');
  $bytes  = $tmp_bytes  if $tmp_bytes >= 0  && $tmp_bytes < $bytes;
  $inodes = $tmp_inodes if $tmp_inodes >= 0 && $tmp_inodes < $inodes;
  end_all_processes();    # sandbox-runner/S3
  end_connections();
  for my $stream (sort keys %{ $step->{outputs} }) { 1 while carry_output($step, $stream) }
  close_input($step);
  $step->{over} = 1;
  $may_ask = 0;
  carry_heard();
  my $status = $step->{status};
  my @used   = (oom_kills() - $step->{oom_kills}, refused_forks() - $step->{refused_forks});
  send_frame('x', join ' ', $status >> 8, $status & 127, @used, $bytes, $inodes);

  # Input that was already on its way when the command ended is read and dropped; the exit frame did not wait for it.
  take_frames($step) unless $step->{no_more};
  until ($step->{no_more}) { receive(); take_frames($step) }
  return;
}
