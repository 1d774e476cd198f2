# The plain supervisor: PID 1 in POSIX sh, for images without perl. $1 is the source of the sealed one, for X.
# plain-supervisor.ts describes it, sealed-supervisor.ts lists the frames.

[ $$ = 1 ] || exit 97
umask 022
DIR=/tmp/.antiphon

frame_head() { # type, bytes
  printf '%s %09d\n' "$1" "$2"
}

tell() { # type, text
  frame_head "$1" "$(printf %s "$2" | wc -c)"
  printf %s "$2"
}

no_room() {
  tell f 'no room in /tmp for the input'
  exit 1
}

# SIZE: the number without its leading zeros, which would make it octal for sh.
decimal() { # nine digits
  SIZE=$1
  while [ "$SIZE" != "${SIZE#0}" ]; do SIZE=${SIZE#0}; done
  SIZE=${SIZE:-0}
}

# VALUE: the number beside the key in the last of the files that has the key; 0 where none has it.
counter() { # key, files
  VALUE=0
  KEY=$1
  shift
  for FILE; do
    [ -r "$FILE" ] && while read -r NAME NUMBER; do
      [ "$NAME" = "$KEY" ] && VALUE=$NUMBER
    done < "$FILE"
  done
}

# FORKS and KILLS: how often the container's limits were hit so far.
count_limits() {
  counter max /sys/fs/cgroup/pids.events /sys/fs/cgroup/pids/pids.events
  FORKS=$VALUE
  counter oom_kill /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control
  KILLS=$VALUE
}

# The order is stored in a file before it is answered, so that head cannot read ahead into the next frame.
take_order() {
  rm -rf $DIR
  mkdir -p $DIR
  { head -c "$SIZE" > $DIR/run && : > $DIR/in; } || no_room
  count_limits
  KILLS_BEFORE=$KILLS
  FORKS_BEFORE=$FORKS
  tell_taken
}

tell_taken() {
  tell w "$SIZE"
}

send_output() { # type, file
  LEFT=$(($(wc -c < "$2")))
  while [ "$LEFT" -gt 0 ]; do
    PIECE=$LEFT
    [ "$PIECE" -gt 65536 ] && PIECE=65536
    frame_head "$1" "$PIECE"
    head -c "$PIECE"
    LEFT=$((LEFT - PIECE))
  done < "$2"
}

run_order() {
  sh $DIR/run < $DIR/in > $DIR/out 2> $DIR/err
  CODE=$?
  kill -9 -1 2> /dev/null
  wait
  send_output o $DIR/out
  send_output e $DIR/err
  count_limits
  rm -rf $DIR
  tell x "$CODE 0 $((KILLS - KILLS_BEFORE)) $((FORKS - FORKS_BEFORE)) -1 -1"
}

tell h 'sh sealed=0 landlock=0'

while IFS=' ' read -r TYPE DIGITS; do
  decimal "$DIGITS"
  case $TYPE in
    # A file of the sealed supervisor: first its name, then its content. X starts it.
    F)
      mkdir -p $DIR
      CARRIED=$(head -c "$SIZE")
      tell p "$CARRIED"
      ;;
    P)
      { head -c "$SIZE" > "$DIR/$CARRIED" && chmod 700 "$DIR/$CARRIED"; } || no_room
      tell p "$CARRIED"
      ;;
    X) exec "$DIR/ld" --library-path "$DIR" "$DIR/perl" -e "$1" ;;
    R) take_order ;;
    I)
      head -c "$SIZE" >> $DIR/in || no_room
      tell_taken
      ;;
    E) run_order ;;
    *)
      tell f "frame $TYPE"
      exit 1
      ;;
  esac
done
