send_frame('h', "perl sealed=$sealed landlock=$landlock");

while (1) {
  while (my ($type, $payload) = next_frame()) {
    if    ($type eq 'R')                                       { run_step($payload) }
    elsif ($type eq 'M')                                       { lift(split /\0/, $payload); remember_workspace() }
    elsif ($type eq 'A')                                       { remember_again(split /\0/, $payload) }
    elsif ($type eq 'L')                                       { run_step('', \&tell_differences) }
    elsif ($type eq 'W')                                       { run_step('', sub { tell_written($payload) }) }
    elsif ($type eq 'T')                                       { run_step('', \&send_archive) }
    elsif ($type eq 'U')                                       { run_step('', \&tell_upper) }
    elsif ($type eq 'N')                                       { listen_on($payload) }
    elsif ($type eq 'B')                                       { take_message($payload) }
    elsif ($type eq 'H')                                       { $may_ask = $payload eq '' }
    elsif ($type ne 'K' && !connection_frame($type, $payload)) { fail("frame $type outside a step") }
  }
  receive();
}
