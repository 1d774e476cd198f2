/**
 * The plain supervisor: POSIX sh and head, for images without Perl; alone it also needs tar, wc and env.
 *
 * Where the runner has a sealed supervisor to give (adapters/supervisor-pack.ts), this one only takes it in and makes
 * way for it: F names a file, P is its content, X starts perl from these files with the source it was given as $1.
 * Each is answered, because head may read ahead of what it is asked for.
 *
 * It speaks the frames of perl.ts with three differences, all told to the runner in hello:
 * it is not sealed (its stream can be opened through /proc by the code it runs, so a verdict is never
 * built on it), the R payload is a shell script, and output comes when the step has ended
 * (its files live in /tmp, so the size limit of /tmp bounds them).
 */
export const SHELL_SUPERVISOR = String.raw`
[ $$ = 1 ] || exit 97
umask 022; D=/tmp/.antiphon
put() { printf '%s %09d\n' "$1" "$2"; }
say() { put "$1" "$(printf %s "$2" | wc -c)"; printf %s "$2"; }
num() { N=$1; while [ "$N" != "\${N#0}" ]; do N=\${N#0}; done; N=\${N:-0}; }
ooms() { O=0; for f in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
  [ -r $f ] && while read -r k v; do [ "$k" = oom_kill ] && O=$v; done < $f; done; }
say h 'sh sealed=0 landlock=0'
while IFS=' ' read -r T L; do num "$L"
  case $T in
    F) mkdir -p $D; F=$(head -c $N); say p "$F" ;;
    P) head -c $N > "$D/$F" && chmod 700 "$D/$F"; say p "$F" ;;
    X) exec "$D/ld" --library-path "$D" "$D/perl" -e "$1" ;;
    R) rm -rf $D; mkdir -p $D; head -c $N > $D/run; : > $D/in; ooms; B=$O ;;
    I) head -c $N >> $D/in ;;
    E) sh $D/run < $D/in > $D/out 2> $D/err; C=$?; kill -9 -1 2>/dev/null; wait
       for k in o e; do case $k in o) F=$D/out ;; e) F=$D/err ;; esac; S=$(($(wc -c < $F)))
         while [ "$S" -gt 0 ]; do Q=$S; [ "$Q" -gt 65536 ] && Q=65536; put $k $Q; head -c $Q; S=$((S - Q)); done < $F; done
       ooms; rm -rf $D; say x "$C 0 $((O - B)) 0 -1 -1" ;;
    *) say f "frame $T"; exit 1 ;;
  esac
done
`.replaceAll("\\$", "$");
