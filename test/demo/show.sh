# How the demo prints its commands. Sourced by run and saved.

say() { printf '\n# %s\n' "$*"; }

# show COMMAND ARGUMENT...: prints it as it would be typed, then runs it.
show() {
    typed=
    for word in "$@"; do
        case "$word" in
        *[\ \{\$]*) word="'$word'" ;;
        esac
        typed="$typed $word"
    done
    printf '$%s\n' "$typed"
    "$@"
}
