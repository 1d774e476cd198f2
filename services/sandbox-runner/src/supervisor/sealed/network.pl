# One listener on 127.0.0.1, opened only when the runner asks. Its connections are carried as frames and judged outside
# the container. None holds more than its credit, so no connection can fill memory or starve another.

my $MAX_CONNECTIONS   = 64;
my $CONNECTION_CREDIT = 262144;
my $PIECE             = 65536;

my $listener;
my %connections;    # by id: socket, outgoing (bytes for it), credit (bytes that may be read from it), ends
my $last_connection = 0;

sub passing_error { return $! == $EAGAIN || $! == $EINTR }

sub listen_on {
  my ($port) = @_;
  return send_frame('n', 'ok') if $listener;
  my ($AF_INET, $SOCK_STREAM, $TCP, $SOL_SOCKET, $SO_REUSEADDR) = (2, 1, 6, 1, 2);
  my $address = pack('S n a4 x8', $AF_INET, $port, "\x7f\0\0\1");
  my $socket;
  socket($socket, $AF_INET, $SOCK_STREAM, $TCP)
    && setsockopt($socket, $SOL_SOCKET, $SO_REUSEADDR, pack('l', 1))
    && bind($socket, $address)
    && listen($socket, $MAX_CONNECTIONS)
    or return send_frame('n', "$!");
  fcntl($socket, $F_SETFL, $O_NONBLOCK);
  $listener = $socket;
  return send_frame('n', 'ok');
}

# Takes a frame about a connection; false when the frame is about something else. Frames for a closed connection are
# dropped.
sub connection_frame {
  my ($type, $payload) = @_;
  return 0 unless $type =~ /^[DGSQ]$/;
  my $id = unpack 'N', $payload;
  my $connection = $connections{$id} or return 1;
  if    ($type eq 'D') { $connection->{outgoing} .= substr($payload, 4) }
  elsif ($type eq 'G') { $connection->{credit} += unpack 'x4 N', $payload }
  elsif ($type eq 'S') { $connection->{no_more} = 1; write_connection($id) }
  else                 { close $connection->{socket}; delete $connections{$id} }
  return 1;
}

sub drop_connection {
  my ($id) = @_;
  close $connections{$id}{socket};
  delete $connections{$id};
  send_frame('q', pack 'N', $id);
  return;
}

sub accept_connections {
  for (1 .. $MAX_CONNECTIONS) {
    return if keys %connections >= $MAX_CONNECTIONS;
    my $socket;
    accept($socket, $listener) or return;
    fcntl($socket, $F_SETFL, $O_RDWR | $O_NONBLOCK);
    $connections{ ++$last_connection } =
      { socket => $socket, outgoing => '', credit => $CONNECTION_CREDIT, no_more => 0, shut => 0, ended => 0 };
    send_frame('c', pack 'N', $last_connection);
  }
  return;
}

sub read_connection {
  my ($id)       = @_;
  my $connection = $connections{$id};
  my $wanted     = $connection->{credit} < $PIECE ? $connection->{credit} : $PIECE;
  my $read       = sysread($connection->{socket}, my $bytes, $wanted);
  if ($read) {
    $connection->{credit} -= $read;
    send_frame('d', pack('N', $id) . $bytes);
  } elsif (defined $read) {
    $connection->{ended} = 1;
    send_frame('s', pack 'N', $id);
    drop_connection($id) if $connection->{shut};
  } elsif (!passing_error()) {
    drop_connection($id);
  }
  return;
}

sub write_connection {
  my ($id) = @_;
  my $connection = $connections{$id};
  if (length $connection->{outgoing}) {
    my $written = syswrite($connection->{socket}, $connection->{outgoing}, $PIECE);
    if ($written) {
      substr($connection->{outgoing}, 0, $written) = '';
      send_frame('g', pack 'NN', $id, $written);
    } elsif (!passing_error()) {
      return drop_connection($id);
    }
  }
  if ($connection->{no_more} && !$connection->{shut} && !length $connection->{outgoing}) {
    shutdown($connection->{socket}, 1);
    $connection->{shut} = 1;
    drop_connection($id) if $connection->{ended};
  }
  return;
}

# The connections of a step end with it, including those that were not accepted yet.
sub end_connections {
  drop_connection($_) for keys %connections;
  return unless $listener;
  my $socket;
  while (accept($socket, $listener)) { close $socket }
  return;
}
