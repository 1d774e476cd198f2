# Starts processes for a service. A process is copied in order to start another one, which takes longer the larger it is: 5 ms
# and more for a service of 100 MB, in which it does nothing else. This program is small. launcher.ts is the other side.
#
# Orders come on stdin: ten digits with the number of bytes, a newline, then fields that end with a NUL.
#   start ID STREAMS DIRECTORY ARGC ARGV... NAME=VALUE...
#   wait ID    answer when it has ended
#   kill ID
# Answers go to stdout, a line each: "ready", "ended ID CODE SIGNAL", "failed ID ERRNO" (it could not be started).
#
# Each stream of STREAMS (i, o, e) is a connection to the socket, which begins with that letter and eight digits of the ID.
# Without i, the process reads nothing. When stdin ends, this program ends, and the processes go on, as those of a service
# that was killed do.

use strict;
use warnings;
use Socket;

my ($socket) = @ARGV;
my (%running, %awaited);
my ($orders, $HEADER) = ('', 11);

# A terminal's signals go to a whole group, but the service may need git in order to stop.
my @IGNORED = qw(INT TERM HUP PIPE);
$SIG{$_} = 'IGNORE' for @IGNORED;

sub answer { return syswrite STDOUT, "@_\n" }

sub next_order {
  return () if length $orders < $HEADER;
  my $length = 0 + substr $orders, 0, $HEADER - 1;
  return () if length $orders < $HEADER + $length;
  my $order = substr $orders, $HEADER, $length;
  substr($orders, 0, $HEADER + $length) = '';
  my @fields = split /\0/, $order, -1;
  pop @fields;
  return @fields;
}

sub stream {
  my ($letter, $id) = @_;
  socket(my $stream, AF_UNIX, SOCK_STREAM, 0) or return;
  connect($stream, sockaddr_un($socket)) or return;
  syswrite $stream, sprintf '%s%08d', $letter, $id;
  return $stream;
}

# The child; never returns. Its stdout is still that of this program, so it can say why it failed.
sub become_process {
  my ($id, $streams, $directory, $argc, @rest) = @_;
  my @argv = splice @rest, 0, $argc;
  my $failed = sub { syswrite $_[0], 'failed ' . $id . ' ' . ($! + 0) . "\n"; exit 127 };
  my %stream;
  for my $letter (split //, $streams) { $stream{$letter} = stream($letter, $id) or $failed->(\*STDOUT) }
  open(my $answers, '>&', \*STDOUT)    ## no critic (RequireBriefOpen): closed when the program takes the place of this one
    or $failed->(\*STDOUT);
  chdir $directory or $failed->($answers);
  ($stream{i} ? open(STDIN, '<&', $stream{i}) : open(STDIN, '<', '/dev/null')) or $failed->($answers);
  open(STDOUT, '>&', $stream{o}) or $failed->($answers);
  open(STDERR, '>&', $stream{e}) or $failed->($answers);
  $SIG{$_} = 'DEFAULT' for @IGNORED;
  %ENV     = map { split /=/, $_, 2 } @rest;
  exec { $argv[0] } @argv or $failed->($answers);
}

sub start {
  my ($id, @order) = @_;
  my $pid = fork;
  return answer("failed $id", $! + 0) unless defined $pid;
  become_process($id, @order) if $pid == 0;
  $running{$id} = $pid;
  return;
}

sub tell_ended {
  for my $id (keys %awaited) {
    my $pid   = $running{$id};
    my $ended = defined $pid ? waitpid $pid, 1 : -1;    # WNOHANG
    next if $ended == 0;
    answer("ended $id", $? >> 8, $? & 127) if $ended > 0;
    delete $running{$id};
    delete $awaited{$id};
  }
  return;
}

answer('ready');
while (1) {
  my $readable = '';
  vec($readable, 0, 1) = 1;
  my $found = select $readable, undef, undef, %awaited ? 0.001 : undef;
  if ($found > 0) {
    last unless sysread STDIN, $orders, 65536, length $orders;
    while (my ($verb, $id, @order) = next_order()) {
      if    ($verb eq 'start') { start($id, @order) }
      elsif ($verb eq 'wait')  { $awaited{$id} = 1 }
      elsif ($running{$id})    { kill 9, $running{$id} }
    }
  }
  tell_ended();
}
unlink $socket;
$socket =~ s{/[^/]*$}{};
rmdir $socket;
