/**
 * Ways out of a sandbox that code inside it can try. A probe that is not blocked is a hole. Each probe defines what
 * "blocked" means, so a probe that merely fails does not count.
 */

/** A system call that must be refused (EPERM or ENOSYS) before the kernel looks at its arguments. */
export interface SyscallProbe {
  readonly name: string;
  readonly number: number;
  readonly args: readonly number[];
}

const NEW_NAMESPACE = {
  NEWTIME: 0x80,
  NEWNS: 0x20000,
  NEWCGROUP: 0x2000000,
  NEWUTS: 0x4000000,
  NEWIPC: 0x8000000,
  NEWUSER: 0x10000000,
  NEWPID: 0x20000000,
  NEWNET: 0x40000000,
};

const plain: readonly (readonly [name: string, number: number, ...args: number[]])[] = [
  ["ptrace attach", 101, 16, 1],
  ["ptrace traceme", 101, 0],
  ["process_vm_readv", 310, 1, 0, 0, 0, 0, 0],
  ["process_vm_writev", 311, 1, 0, 0, 0, 0, 0],
  ["kcmp", 312, 1, 1, 0, 0, 0],
  ["pidfd_getfd", 438, 0, 1, 0],
  ["process_madvise", 440, 0, 0, 0, 0, 0],
  ["process_mrelease", 448, 0, 0],
  ["keyctl", 250, 0, -4],
  ["add_key", 248, 0, 0, 0, 0, -4],
  ["request_key", 249, 0, 0, 0, -4],
  ["bpf", 321, 0, 0, 0],
  ["perf_event_open", 298, 0, 0, -1, -1, 0],
  ["userfaultfd", 323, 1],
  ["io_uring_setup", 425, 8, 0],
  ["io_uring_enter", 426, 0, 0, 0, 0, 0, 0],
  ["io_uring_register", 427, 0, 0, 0, 0],
  ["setns", 308, 0, 0],
  ["clone3", 435, 0, 0],
  ["mount", 165, 0, 0, 0, 0, 0],
  ["umount2", 166, 0, 0],
  ["pivot_root", 155, 0, 0],
  ["chroot", 161, 0],
  ["fsopen", 430, 0, 0],
  ["fsconfig", 431, 0, 0, 0, 0, 0],
  ["fsmount", 432, 0, 0, 0],
  ["fspick", 433, 0, 0, 0],
  ["move_mount", 429, 0, 0, 0, 0, 0],
  ["open_tree", 428, 0, 0, 0],
  ["mount_setattr", 442, 0, 0, 0, 0, 0],
  ["open_by_handle_at", 304, 0, 0, 0],
  ["name_to_handle_at", 303, 0, 0, 0, 0, 0],
  ["fanotify_init", 300, 0, 0],
  ["quotactl", 179, 0, 0, 0, 0],
  ["quotactl_fd", 443, 0, 0, 0, 0],
  ["swapon", 167, 0, 0],
  ["swapoff", 168, 0],
  ["reboot", 169, 0, 0, 0, 0],
  ["kexec_load", 246, 0, 0, 0, 0],
  ["kexec_file_load", 320, 0, 0, 0, 0, 0],
  ["init_module", 175, 0, 0, 0],
  ["finit_module", 313, 0, 0, 0],
  ["delete_module", 176, 0, 0],
  ["iopl", 172, 3],
  ["ioperm", 173, 0, 1, 1],
  ["modify_ldt", 154, 1, 0, 0],
  ["acct", 163, 0],
  ["syslog", 103, 3, 0, 0],
  ["settimeofday", 164, 0, 0],
  ["clock_settime", 227, 0, 0],
  ["adjtimex", 159, 0],
  ["clock_adjtime", 305, 0, 0],
  ["sethostname", 170, 0, 0],
  ["setdomainname", 171, 0, 0],
  ["vhangup", 153],
  ["lookup_dcookie", 212, 0, 0, 0],
  ["memfd_secret", 447, 0],
  ["vmsplice", 278, 0, 0, 0, 0],
  ["mbind", 237, 0, 0, 0, 0, 0, 0],
  ["set_mempolicy", 238, 0, 0, 0],
  ["migrate_pages", 256, 1, 0, 0, 0],
  ["move_pages", 279, 1, 0, 0, 0, 0, 0],
  ["uselib", 134, 0],
  ["ustat", 136, 0, 0],
  ["sysfs", 139, 3],
  ["_sysctl", 156, 0],
  ["nfsservctl", 180, 0, 0, 0],
  ["personality without address randomness", 135, 0x0040000],
  ["personality with executable data", 135, 0x0400000],
  ["prlimit64 of the supervisor", 302, 1, 7, 0, 0],
  ["mknod of a character device", 133, 0, 0o020666, 0x103],
  ["mknod of a block device", 133, 0, 0o060666, 0x800],
  ["mknodat of a character device", 259, -100, 0, 0o020666, 0x103],
  ["mknodat of a block device", 259, -100, 0, 0o060666, 0x800],
];

const families: readonly (readonly [string, number])[] = [
  ["AX25", 3],
  ["IPX", 4],
  ["APPLETALK", 5],
  ["X25", 9],
  ["KEY", 15],
  ["PACKET", 17],
  ["RDS", 21],
  ["PPPOX", 24],
  ["LLC", 26],
  ["CAN", 29],
  ["TIPC", 30],
  ["BLUETOOTH", 31],
  ["ALG", 38],
  ["NFC", 39],
  ["VSOCK", 40],
  ["KCM", 41],
  ["QIPCRTR", 42],
  ["SMC", 43],
  ["XDP", 44],
  ["MCTP", 45],
];

const NETLINK_PROTOCOLS = [2, 4, 5, 6, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19, 20, 21, 22];

export const SYSCALL_PROBES: readonly SyscallProbe[] = [
  ...plain.map(([name, number, ...args]) => ({ name, number, args })),
  ...Object.entries(NEW_NAMESPACE).map(([flag, bits]) => ({
    name: `unshare ${flag}`,
    number: 272,
    args: [bits],
  })),
  ...Object.entries(NEW_NAMESPACE)
    .filter(([flag]) => flag !== "NEWTIME")
    .map(([flag, bits]) => ({ name: `clone ${flag}`, number: 56, args: [bits + 17, 0, 0, 0, 0] })),
  ...families.map(([name, family]) => ({ name: `socket AF_${name}`, number: 41, args: [family, 3, 0] })),
  ...families.map(([name, family]) => ({
    name: `socket AF_${name} with high bits`,
    number: 41,
    args: [2 ** 32 + family, 2, 0],
  })),
  ...NETLINK_PROTOCOLS.map((protocol) => ({
    name: `netlink ${protocol}`,
    number: 41,
    args: [16, 3, protocol],
  })),
  { name: "raw socket", number: 41, args: [2, 3, 1] },
  { name: "raw socket, version 6", number: 41, args: [10, 3, 58] },
];

/** Prints `<errno>` for each probe; 0 means that the call succeeded. */
export function syscallProbeScript(probes: readonly SyscallProbe[]): string {
  const calls = JSON.stringify(probes.map(({ number, args }) => [number, ...args]));
  return `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
for number, *args in ${calls}:
    ctypes.set_errno(0)
    padded = [ctypes.c_long(a) for a in args] + [ctypes.c_long(0)] * (6 - len(args))
    got = libc.syscall(ctypes.c_long(number), *padded)
    if got == 0 and number in (56,):
        os._exit(0)
    print(ctypes.get_errno() if got == -1 else 0, flush=True)
`;
}

/** A shell script that exits 0 only if it reached something forbidden. */
export interface ShellProbe {
  readonly name: string;
  readonly script: string;
}

const readable = (path: string): ShellProbe => ({
  name: `read ${path}`,
  script: `head -c 1 ${path} | grep -q .`,
});
const writable = (path: string, word = "1"): ShellProbe => ({
  name: `write ${path}`,
  script: `(echo ${word} > ${path}) 2>/dev/null`,
});
const present = (path: string): ShellProbe => ({ name: `find ${path}`, script: `test -e ${path}` });
const reaches = (host: string, port: number): ShellProbe => ({
  name: `connect ${host}:${port}`,
  script: `timeout 2 bash -c 'exec 3<>/dev/tcp/${host}/${port}'`,
});

export const SHELL_PROBES: readonly ShellProbe[] = [
  ...[
    "/proc/kcore",
    "/proc/kmsg",
    "/proc/keys",
    "/proc/timer_list",
    "/proc/1/environ",
    "/proc/1/mem",
    "/proc/1/maps",
    "/proc/1/auxv",
    "/proc/1/stack",
    "/proc/1/syscall",
    "/etc/shadow",
    "/sys/firmware/acpi/tables/DSDT",
  ].map(readable),
  ...[
    "/probe",
    "/etc/probe",
    "/usr/bin/probe",
    "/root/probe",
    "/var/probe",
    "/dev/probe",
    "/run/probe",
    "/home/probe",
    "/.dockerenv",
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/hostname",
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sys/net/ipv4/ip_forward",
    "/proc/sysrq-trigger",
    "/proc/1/oom_score_adj",
    "/proc/1/comm",
    "/proc/1/mem",
    "/proc/1/fd/0",
    "/proc/1/fd/1",
    "/proc/1/fd/2",
    "/proc/1/task/1/mem",
    "/proc/1/setgroups",
    "/proc/1/uid_map",
    "/proc/self/mem",
    "/proc/self/setgroups",
    "/proc/self/uid_map",
    "/sys/kernel/uevent_helper",
    "/sys/fs/cgroup/cgroup.procs",
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    "/sys/fs/cgroup/memory.swap.max",
    "/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes",
    "/sys/fs/cgroup/memory/memory.swappiness",
    "/sys/fs/cgroup/memory/memory.force_empty",
    "/proc/sys/vm/swappiness",
    "/proc/sys/vm/drop_caches",
    "/sys/fs/cgroup/pids/pids.max",
    "/sys/fs/cgroup/devices/devices.allow",
    "/sys/fs/cgroup/memory/release_agent",
    "/sys/fs/cgroup/memory/notify_on_release",
    "/sys/fs/cgroup/memory/cgroup.procs",
    "/sys/power/state",
  ].map((path) => writable(path)),
  ...[
    "/dev/mem",
    "/dev/kmsg",
    "/dev/kvm",
    "/dev/fuse",
    "/dev/net/tun",
    "/dev/vsock",
    "/dev/vhost-vsock",
    "/dev/sda",
    "/dev/vda",
    "/dev/loop0",
    "/dev/loop-control",
    "/dev/mapper/control",
    "/dev/console",
    "/dev/port",
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/systemd/private",
    "/host",
    "/workspace/.git",
    "/var/run/secrets",
    "/run/secrets",
  ].map(present),
  ...[
    ["169.254.169.254", 80],
    ["169.254.170.2", 80],
    ["100.100.100.200", 80],
    ["8.8.8.8", 53],
    ["1.1.1.1", 443],
    ["172.17.0.1", 2375],
    ["172.17.0.1", 4222],
    ["10.0.0.1", 80],
    ["192.168.0.1", 80],
    ["127.0.0.1", 4222],
    ["127.0.0.1", 2375],
    ["127.0.0.1", 9229],
  ].map(([host, port]) => reaches(String(host), Number(port))),
  {
    name: "find the machine's swap by its name",
    script:
      'tail -n +2 /proc/swaps | while read -r file _; do test -e "$file" && echo found; done | grep -q .',
  },
  { name: "resolve a name", script: "timeout 3 getent hosts example.com" },
  {
    name: "connect over IPv6",
    script: `timeout 2 python3 -c 'import socket; socket.create_connection(("2606:4700:4700::1111", 443), 1)'`,
  },
  {
    name: "send a datagram out",
    script: `python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("8.8.8.8", 53))'`,
  },
  { name: "find another interface", script: "ls /sys/class/net | grep -qvx lo" },
  { name: "find a route", script: "tail -n +2 /proc/net/route | grep -q ." },
  { name: "find an abstract socket", script: "grep -q '@' /proc/net/unix" },
  { name: "find a socket file", script: "find / -xdev -type s 2>/dev/null | grep -q ." },
  { name: "find a setuid program", script: "find / -xdev -perm /6000 -type f 2>/dev/null | grep -q ." },
  {
    name: "find a writable place outside the work dirs",
    script:
      "find / -xdev -writable -not -type l 2>/dev/null | grep -vE '^/(proc|sys|dev|workspace|tmp|home/sandbox)' | grep -q .",
  },
  { name: "become root", script: "python3 -c 'import os; os.setuid(0)' 2>/dev/null" },
  { name: "become root's group", script: "python3 -c 'import os; os.setgid(0)' 2>/dev/null" },
  {
    name: "keep a capability",
    script: "grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/self/status | grep -qv '0000000000000000'",
  },
  { name: "run without a filter", script: "grep -q '^Seccomp:[[:space:]]*0' /proc/self/status" },
  { name: "gain privileges by exec", script: "grep -q '^NoNewPrivs:[[:space:]]*0' /proc/self/status" },
  { name: "give a file to root", script: "touch /workspace/r && chown 0:0 /workspace/r 2>/dev/null" },
  {
    name: "make a setuid program that works",
    script:
      "cp /bin/true /workspace/su && chmod u+s /workspace/su && findmnt -no OPTIONS /workspace | grep -vq nosuid",
  },
  { name: "list the supervisor's files", script: "ls /proc/1/fd 2>/dev/null | grep -q ." },
  { name: "list the supervisor's maps", script: "ls /proc/1/map_files 2>/dev/null | grep -q ." },
  { name: "enter the supervisor's root", script: "ls /proc/1/root/ 2>/dev/null | grep -q ." },
  { name: "enter the supervisor's namespaces", script: "readlink /proc/1/ns/mnt 2>/dev/null | grep -q ." },
  { name: "read the supervisor's links", script: "readlink /proc/1/exe /proc/1/cwd 2>/dev/null | grep -q ." },
  { name: "kill the supervisor", script: "kill -KILL 1 2>/dev/null" },
  { name: "stop the supervisor", script: "kill -STOP 1 2>/dev/null" },
  {
    name: "signal the supervisor",
    script:
      "for s in 1 2 3 10 12 13 15 17 18 20 21 22 29 34 64; do kill -$s 1 2>/dev/null && exit 0; done; exit 1",
  },
  {
    name: "run 32-bit code",
    script: `python3 -c '
import ctypes, mmap
m = mmap.mmap(-1, 4096, prot=7)
m.write(bytes([0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3]))
f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))
import sys; sys.exit(0 if f() > 0 else 1)' 2>/dev/null`,
  },
  {
    name: "call through the x32 interface",
    script: "python3 -c 'import ctypes; ctypes.CDLL(None).syscall(0x40000000 + 39)' 2>/dev/null",
  },
  { name: "leave a core file", script: 'test "$(ulimit -c)" != 0' },
  { name: "lift a limit", script: "ulimit -Hn 1000000 2>/dev/null" },
  {
    name: "see another container's processes",
    script: "ls /proc | grep -E '^[0-9]+$' | wc -l | awk '{ exit !($1 > 20) }'",
  },
  {
    name: "find a secret in the environment",
    script: "env | grep -qiE 'token|secret|key|passw|nats|docker|antiphon'",
  },
  {
    name: "find another one's shared memory",
    script: "test -n \"$(ls -A /dev/shm /dev/mqueue 2>/dev/null | grep -v ':$' | grep .)\"",
  },
  {
    name: "attach a debugger",
    script:
      "python3 -c 'import ctypes; import os; import sys; l = ctypes.CDLL(None); p = os.fork(); (p == 0) and os._exit(0); sys.exit(0 if l.ptrace(16, p, 0, 0) == 0 else 1)'",
  },
];
