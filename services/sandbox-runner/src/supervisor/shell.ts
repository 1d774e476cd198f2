/**
 * The plain supervisor: POSIX sh, head and wc, for images without Perl; alone it also needs tar, rm and env.
 *
 * Where the runner has a sealed supervisor to give (adapters/supervisor-pack.ts), this one only takes it in and makes
 * way for it: F names a file, P is its content (each answered with p), X starts perl from these files with the source it
 * was given as $1.
 *
 * It speaks the frames of perl.ts with four differences, all told to the runner in hello:
 * it is not sealed (its stream can be opened through /proc by the code it runs, so a verdict is never
 * built on it), the R payload is a shell script, output comes when the step has ended
 * (its files live in /tmp, so the size limit of /tmp bounds them), and it takes one frame at a time.
 *
 * Invariants:
 *   P13 Every frame with a payload is answered when it is taken, R and I with the w of perl.ts, and the runner sends
 *       nothing before: head may read ahead of what it is asked for (BusyBox's does), and what it read would be lost.
 *   P14 Input that does not fit /tmp ends the sandbox by name; what is left of its frame is never read as frames.
 */
export const SHELL_SUPERVISOR = String.raw`
[ $$ = 1 ] || exit 97
umask 022; D=/tmp/.antiphon
put() { printf '%s %09d\n' "$1" "$2"; }
lost() { say f 'no room in /tmp for what was sent'; exit 1; }
say() { put "$1" "$(printf %s "$2" | wc -c)"; printf %s "$2"; }
num() { N=$1; while [ "$N" != "\${N#0}" ]; do N=\${N#0}; done; N=\${N:-0}; }
count() { V=0; K=$1; shift; for f; do [ -r $f ] && while read -r k v; do [ "$k" = "$K" ] && V=$v; done < $f; done; }
tally() { count max /sys/fs/cgroup/pids.events /sys/fs/cgroup/pids/pids.events; M=$V
  count oom_kill /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; O=$V; }
say h 'sh sealed=0 landlock=0'
while IFS=' ' read -r T L; do num "$L"
  case $T in
    F) mkdir -p $D; F=$(head -c $N); say p "$F" ;;
    P) { head -c $N > "$D/$F" && chmod 700 "$D/$F"; } || lost; say p "$F" ;;
    X) exec "$D/ld" --library-path "$D" "$D/perl" -e "$1" ;;
    R) rm -rf $D; mkdir -p $D; { head -c $N > $D/run && : > $D/in; } || lost; tally; B=$O; A=$M; say w $N ;;
    I) head -c $N >> $D/in || lost; say w $N ;;
    E) sh $D/run < $D/in > $D/out 2> $D/err; C=$?; kill -9 -1 2>/dev/null; wait
       for k in o e; do case $k in o) F=$D/out ;; e) F=$D/err ;; esac; S=$(($(wc -c < $F)))
         while [ "$S" -gt 0 ]; do Q=$S; [ "$Q" -gt 65536 ] && Q=65536; put $k $Q; head -c $Q; S=$((S - Q)); done < $F; done
       tally; rm -rf $D; say x "$C 0 $((O - B)) $((M - A)) -1 -1" ;;
    *) say f "frame $T"; exit 1 ;;
  esac
done
`.replaceAll("\\$", "$");
