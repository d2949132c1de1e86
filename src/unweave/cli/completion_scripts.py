"""The scripts of completion, each around one table: what has been written, and what may follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping

BASH = """# Completion of unweave. Made by: unweave completion {shell}
_unweave_following() {{
    case "$1" in
{cases}
    esac
}}

_unweave() {{
    local current="${{COMP_WORDS[COMP_CWORD]-}}" first="${{COMP_WORDS[1]-}}" command last='' values='' i
    command="$first ${{COMP_WORDS[2]-}}"
    [ -n "$(_unweave_following "$command")" ] || command="$first"
    if [ "$COMP_CWORD" -eq 1 ]; then command=''; fi
    for ((i = COMP_CWORD - 1; i > 1; i--)); do
        case "${{COMP_WORDS[i]}}" in
            --*) last="${{COMP_WORDS[i]}}"; values="$(_unweave_following "$command $last")"; break ;;
        esac
    done
    case "$values" in
        1*) [ "$i" -eq $((COMP_CWORD - 1)) ] || values='' ;;
    esac
    case "$current" in
        -*) values="$(_unweave_following "$command")" ;;
        *)
            if [ "$COMP_CWORD" -eq 1 ]; then
                values="$(_unweave_following '')"
            elif [ -n "$values" ]; then
                values="${{values#?}}"
            elif [ "$COMP_CWORD" -eq 2 ]; then
                values="$(_unweave_following "$first =")"
            else
                values="$(_unweave_following "$command =")"
            fi ;;
    esac
    COMPREPLY=()
    case "$values" in
        *@files*)
            COMPREPLY=($(compgen -f -- "$current"))
            compopt -o filenames 2> /dev/null
            values="${{values//@files/}}" ;;
    esac
    COMPREPLY+=($(compgen -W "$values" -- "$current"))
}}

complete -F _unweave unweave
"""

ZSH = """#compdef unweave
(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit }}
autoload -Uz +X bashcompinit && bashcompinit
"""

FISH = """# Completion of unweave. Made by: unweave completion fish
function __unweave_following
    switch "$argv[1]"
{cases}
    end
end

function __unweave
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l place (count $words)
    if test $place -le 1
        string split ' ' -- (__unweave_following '')
        return
    end
    set -l command $words[2]
    set -q words[3]; and test -n "$(__unweave_following "$words[2] $words[3]")"; and set command "$words[2] $words[3]"
    set -l values
    for i in (seq $place -1 3)
        if string match -q -- '--*' $words[$i]
            set values (__unweave_following "$command $words[$i]")
            string match -q -- '1*' "$values"; and test $i -ne $place; and set values
            break
        end
    end
    if string match -q -- '-*' $current
        set values "+ $(__unweave_following $command)"
    else if test -z "$values" -a $place -eq 2
        set values "+ $(__unweave_following "$words[2] =")"
    else if test -z "$values"
        set values "+ $(__unweave_following "$command =")"
    end
    set -l names (string split -n ' ' -- $values)[2..-1]
    if contains -- @files $names
        __fish_complete_path $current
    end
    string match -v -- @files $names
end

complete -c unweave -f -a '(__unweave)'
"""


def _bash(table: Mapping[str, str], shell: str = "bash") -> str:
    """Return the script for bash; zsh reads it too."""
    lines = [f"        {_pattern(key)}) echo '{words}' ;;" for key, words in table.items()]
    return BASH.format(cases="\n".join(lines), shell=shell)


def _pattern(key: str) -> str:
    """Return a key as a pattern of bash, in quotes but for an asterisk.

    >>> _pattern("train * --net")
    "'train '*' --net'"
    """
    return "*".join(f"'{part}'" for part in key.split("*"))


def _zsh(table: Mapping[str, str]) -> str:
    return ZSH.format() + _bash(table, "zsh")


def _fish(table: Mapping[str, str]) -> str:
    lines = [f"        case '{key}'\n            echo '{words}'" for key, words in table.items()]
    return FISH.format(cases="\n".join(lines))


SCRIPTS: dict[str, Callable[[Mapping[str, str]], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
"""By the name of the shell: from what may follow what to a script."""
