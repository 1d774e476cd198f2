# A command may ask a person: it moves its question to one file and waits for another. Both lie in /tmp itself, a mount that
# no command can replace, and neither is followed if it is a link.

my $QUESTION_FILE  = '/tmp/.antiphon-question';
my $ANSWER_FILE    = '/tmp/.antiphon-answer';
my $QUESTION_BYTES = 16384;
my ($O_CREAT, $O_EXCL) = (0x40, 0x80);

my $may_ask = 0;    # Only the next step, or the one that runs, may.

sub carry_question {
  return unless $may_ask && lstat $QUESTION_FILE;
  my $text = '';
  if (sysopen my $file, $QUESTION_FILE, $O_NOFOLLOW | $O_NONBLOCK) {
    sysread $file, $text, $QUESTION_BYTES if -f $file;
    close $file;
  }
  my $is_gone = unlink $QUESTION_FILE;
  send_frame('a', $text) if $is_gone && length $text;
  return;
}

sub give_answer {
  my ($text) = @_;
  my $draft = "$ANSWER_FILE.draft";
  unlink $draft;
  sysopen my $file, $draft, $O_WRONLY | $O_CREAT | $O_EXCL | $O_NOFOLLOW, 0600 or return;
  my $written = syswrite $file, $text;
  close $file;
  rename $draft, $ANSWER_FILE if $written;
  return;
}
