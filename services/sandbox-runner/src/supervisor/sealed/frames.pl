# Frames, both ways: one type letter, a space, nine digits, a newline, then that many bytes. sealed-supervisor.ts lists
# them.

# Writes all bytes, even if the pipe takes only a few at a time. Without a reader the supervisor exits.
sub write_out {
  my ($bytes) = @_;
  my $done = 0;
  while ($done < length $bytes) {
    my $written = syswrite(STDOUT, $bytes, length($bytes) - $done, $done);
    exit 1 unless defined $written;
    $done += $written;
  }
  return;
}

sub send_frame {
  my ($type, $payload) = @_;
  write_out(sprintf("%s %09d\n", $type, length $payload) . $payload);
  return;
}

my $received = '';

# The end of stdin means that the runner is gone. PID 1 exits, and the kernel ends the container with it.
sub receive {
  sysread(STDIN, $received, 262144, length $received) or exit 0;
  return;
}

# The next complete frame: type and payload, or nothing.
sub next_frame {
  return unless $received =~ /^(.) (\d{9})\n/s;
  my ($type, $size) = ($1, $2);
  return if length($received) < 12 + $size;
  my $payload = substr($received, 12, $size);
  substr($received, 0, 12 + $size) = '';
  return ($type, $payload);
}

sub fail {
  my ($why) = @_;
  send_frame('f', $why);
  exit 1;
}
