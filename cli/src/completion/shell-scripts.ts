// The completion scripts. Each asks `antiphon complete` for what may come next, so that all shells offer the same, and an
// upgrade of the command needs no new script. Pure.

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** Lines of `antiphon complete` that are no candidates: the shell completes these itself. */
export const FILES = ":files";
export const DIRECTORIES = ":directories";

const BASH = `# bash completion of antiphon
_antiphon() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" line IFS=$'\\n'
  [ "$cur" = "=" ] && cur=
  COMPREPLY=()
  for line in $("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); do
    case "$line" in
      ${FILES}) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- "$cur")) ;;
      ${DIRECTORIES}) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -d -- "$cur")) ;;
      *) COMPREPLY+=($(compgen -W "\${line%%$'\\t'*}" -- "$cur")) ;;
    esac
  done
}
complete -F _antiphon antiphon`;

const ZSH = `#compdef antiphon
_antiphon() {
  local line ret=1
  local -a found
  for line in "\${(@f)$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      ${FILES}) _files && ret=0 ;;
      ${DIRECTORIES}) _files -/ && ret=0 ;;
      ?*) found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done
  (( $#found )) && _describe 'antiphon' found && ret=0
  return ret
}
if [[ "\${funcstack[1]}" = _antiphon ]]; then
  _antiphon
else
  compdef _antiphon antiphon
fi`;

const FISH = `# fish completion of antiphon
function __antiphon_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  for line in ($words[1] complete -- $words[2..-1] "$current" 2>/dev/null)
    switch $line
      case '${FILES}'
        __fish_complete_path "$current"
      case '${DIRECTORIES}'
        __fish_complete_directories "$current"
      case '*'
        echo $line
    end
  end
end
complete -c antiphon -f -a '(__antiphon_complete)'`;

export function completionScript(shell: Shell): string {
  return { bash: BASH, zsh: ZSH, fish: FISH }[shell];
}
