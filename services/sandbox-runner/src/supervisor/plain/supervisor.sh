# The plain supervisor: PID 1 in POSIX sh, for images without perl. $1 is the source of the sealed one, for X.
# plain-supervisor.ts says what it promises, sealed-supervisor.ts which frames there are.

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
  tell f 'no room in /tmp for what was sent'
  exit 1
}

# SIZE: the number without its leading zeros, which sh would take for octal.
decimal() { # nine digits
  SIZE=$1
  while [ "$SIZE" != "${SIZE#0}" ]; do SIZE=${SIZE#0}; done
  SIZE=${SIZE:-0}
}

# VALUE: what stands beside the key in the last of the files that has it; 0 where none does.
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

# FORKS and KILLS: how often the container's bounds were hit so far.
count_limits() {
  counter max /sys/fs/cgroup/pids.events /sys/fs/cgroup/pids/pids.events
  FORKS=$VALUE
  counter oom_kill /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control
  KILLS=$VALUE
}

# P13: the order is taken as a file before it is answered, so that head cannot read ahead of the next frame.
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
    # A file of the sealed supervisor: its name, then its content; X starts it.
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
