/** `associate-2` is a process of the role `associate`. */
export function roleOf(name: string): string {
  return name.replace(/-\d+$/, "");
}
