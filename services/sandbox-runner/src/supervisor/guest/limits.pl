# Memory, processes and CPU by cgroup v2, or v1 where the machine has that. `%enforced` holds what its kernel accepted.

# The machine itself keeps 64 MiB.
my ($machine_kib) = map { /^MemTotal:\s+(\d+)/ ? $1 : () } lines_of('/proc/meminfo');
my $machine_memory = $machine_kib * 1024 - 64 * 1048576;
$o{memory} = $machine_memory if $machine_memory > 0 && $machine_memory < $o{memory};

my $CGROUPS = '/sys/fs/cgroup';
my $group   = "antiphon-$$";
my %enforced;
my @own_groups;    # Pairs: our group, and the path at which the sandbox sees it.

sub join_unified_group {

  # Only a group without processes can delegate controllers.
  if (!write_file("$CGROUPS/cgroup.subtree_control", '+memory')) {
    mkdir "$CGROUPS/antiphon-machine";
    for my $pid (lines_of("$CGROUPS/cgroup.procs")) {
      chomp $pid;
      write_file("$CGROUPS/antiphon-machine/cgroup.procs", $pid);
    }
  }
  write_file("$CGROUPS/cgroup.subtree_control", "+$_") for qw(memory pids cpu);
  my $own = "$CGROUPS/$group";
  mkdir $own;
  $enforced{memory} = write_file("$own/memory.max", $o{memory});
  write_file("$own/memory.swap.max", 0);
  $enforced{processes} = write_file("$own/pids.max", $o{pids});
  write_file("$own/cpu.max", "$o{cpu} 100000");
  return unless -d $own;
  write_file("$own/cgroup.procs", $$) or @enforced{qw(memory processes)} = (0, 0);
  @own_groups = ([$own, $CGROUPS]);
  return;
}

sub join_separate_groups {
  my %bound = (
    memory => ['memory.limit_in_bytes', $o{memory}],
    pids   => ['pids.max',              $o{pids}],
    cpu    => ['cpu.cfs_quota_us',      $o{cpu}],
  );
  for my $controller (qw(memory pids cpu)) {
    my $own = "$CGROUPS/$controller/$group";
    next unless -d "$CGROUPS/$controller" && mkdir $own;
    my ($file, $value) = @{ $bound{$controller} };
    my $set = write_file("$own/$file", $value);
    write_file("$own/memory.memsw.limit_in_bytes", $o{memory}) if $controller eq 'memory';
    $enforced{ $controller eq 'pids' ? 'processes' : $controller } = $set && write_file("$own/cgroup.procs", $$);
    push @own_groups, [$own, "$CGROUPS/$controller"];
  }
  return;
}

-e "$CGROUPS/cgroup.controllers" ? join_unified_group() : join_separate_groups();
