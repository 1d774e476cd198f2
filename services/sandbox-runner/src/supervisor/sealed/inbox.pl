# Messages of a person to the command that works: each is a file in /tmp, by its number, with the look at the inbox that is to
# get it in the first line. The program antiphon-inbox says in another file that it has read one.

my $MESSAGE_FILE = '/tmp/.antiphon-message.';
my $HEARD_FILE   = '/tmp/.antiphon-heard.';

my %unheard;    # Numbers of the messages that no command has read.
my @arrived;    # Numbers of those whose arrival is not yet said.

sub take_message {
  my ($payload) = @_;
  my ($number, $text) = $payload =~ /\A([1-9][0-9]{0,3}) ([0-9].*)\z/s or return;
  my $draft = "$MESSAGE_FILE$number.draft";
  unlink $draft;
  sysopen my $file, $draft, $O_WRONLY | $O_CREAT | $O_EXCL | $O_NOFOLLOW, 0600 or return;
  my $written = syswrite $file, $text;
  close $file;
  if (($written // 0) == length $text && rename $draft, "$MESSAGE_FILE$number") {
    $unheard{$number} = 1;
    push @arrived, $number;
  } else {
    unlink $draft;
  }
  return;
}

sub carry_heard {
  send_frame('b', "$_ 0") for splice @arrived;
  for my $number (sort { $a <=> $b } keys %unheard) {
    my $name = "$HEARD_FILE$number";
    next unless lstat $name;
    my $look = '';
    if (sysopen my $file, $name, $O_NOFOLLOW | $O_NONBLOCK) {
      sysread $file, $look, 16 if -f $file;
      close $file;
    }
    delete $unheard{$number};
    unlink $name;
    send_frame('b', "$number $1") if $look =~ /\A([1-9][0-9]{0,8})\n?\z/;
  }
  return;
}
