/**
 * A seccomp filter for providers that take one as BPF. Calls that no build or test needs are refused with EPERM. The user
 * namespace has no capabilities over the host; the filter also closes parts of the kernel where that was not enough in
 * the past. Docker's own profile (seccomp.json) is an allowlist and stricter.
 *
 * A process that uses another architecture than the filter's, or the x32 interface of x86-64, is killed.
 */
const DENIED: Readonly<Record<string, readonly [x64: number, arm64: number]>> = {
  ptrace: [101, 117],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  unshare: [272, 97],
  setns: [308, 268],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  kexec_load: [246, 104],
  init_module: [175, 105],
  delete_module: [176, 106],
  finit_module: [313, 273],
  syslog: [103, 116],
  acct: [163, 89],
  reboot: [169, 142],
  swapon: [167, 224],
  quotactl: [179, 60],
};
const CLONE3 = 435;
const MACHINES = {
  x64: { arch: 0xc000003e, clone: 56, socket: 41, column: 0 },
  arm64: { arch: 0xc00000b7, clone: 220, socket: 198, column: 1 },
} as const;

const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;
const X32 = 0x40000000;
const NEW_NAMESPACES = 0x7e020080;
/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. */
const FAMILIES = [1, 2, 10, 16];

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** The filter in the form of `bwrap --seccomp`; null for any other architecture. */
export function seccompFilter(architecture: string): Buffer | null {
  if (architecture !== "x64" && architecture !== "arm64") return null;
  const { arch, clone, socket, column } = MACHINES[architecture];
  const refuse = (nr: number, how: number): Instruction[] => [
    [JUMP_EQUAL, 0, 1, nr],
    [RETURN, 0, 0, how],
  ];
  const program: Instruction[] = [
    [LOAD, 0, 0, 4],
    [JUMP_EQUAL, 1, 0, arch],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, 0],
    [JUMP_AT_LEAST, 0, 1, X32],
    [RETURN, 0, 0, KILL],
    ...refuse(CLONE3, ENOSYS), // its flags are in memory, which a filter cannot read; libc falls back to clone
    ...Object.values(DENIED).flatMap((numbers) => refuse(numbers[column], EPERM)),
    [JUMP_EQUAL, 0, 4, clone],
    [LOAD, 0, 0, 16],
    [JUMP_ANY_BIT, 0, 1, NEW_NAMESPACES],
    [RETURN, 0, 0, EPERM],
    [RETURN, 0, 0, ALLOW],
    [JUMP_EQUAL, 0, FAMILIES.length + 2, socket],
    [LOAD, 0, 0, 16],
    ...FAMILIES.map((family, i): Instruction => [JUMP_EQUAL, FAMILIES.length - i, 0, family]),
    [RETURN, 0, 0, EPERM],
    [RETURN, 0, 0, ALLOW],
  ];
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, ifTrue, ifFalse, value], i) => {
    bytes.writeUInt16LE(code, i * 8);
    bytes.writeUInt8(ifTrue, i * 8 + 2);
    bytes.writeUInt8(ifFalse, i * 8 + 3);
    bytes.writeUInt32LE(value, i * 8 + 4);
  });
  return bytes;
}
