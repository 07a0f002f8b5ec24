package script

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-gc/kubectl-gc/test/terminal"
)

// columns is the width of the terminal of a transcript, in which no table is shortened.
const columns = 132

// transcript [-y|-c] CODE COMMAND... runs a command on a terminal and prints what a reader sees
// there: the command behind a "$", its output, and what it writes to stderr. Its exit code must be
// CODE. With -y it answers the question with yes, and with -c its colors are in it, with a "␛" for
// each escape. Ages, uids and generated names are replaced by stand-ins, so that cmp can compare
// the transcript with a file of the script, which the documentation shows.
func transcript(ts *testscript.TestScript, neg bool, args []string) {
	yes, colors := len(args) > 0 && args[0] == "-y", len(args) > 0 && args[0] == "-c"
	if yes || colors {
		args = args[1:]
	}
	if neg || len(args) < 2 {
		ts.Fatalf("usage: transcript [-y|-c] CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code, screen, stderr := onTerminal(ts, columns, yes, colors, args[1:])
	// nobody is blamed yet
	for deadline := time.Now().Add(patience); strings.Contains(screen, "(InProgress)\n") && time.Now().Before(deadline); {
		code, screen, stderr = onTerminal(ts, columns, yes, colors, args[1:])
	}
	out := screen + stderr
	_, err = io.WriteString(ts.Stdout(), standIns(typed(args[1:])+strings.ReplaceAll(out, "\x1b", escape)))
	ts.Check(err)
	if code != want {
		ts.Fatalf("exit code %d, want %d:\n%s", code, want, out)
	}
	if !colors && reads(args[1:]) {
		fits(ts, args[1:], screen)
	}
}

// reads reports whether a command, as it is typed, changes nothing and prints nothing that is not
// to fit.
func reads(args []string) bool {
	if slices.Contains(args, "wide") || slices.Contains(args, "--fix") {
		return false
	}
	return slices.Contains([]string{"tree", "check", "why", "explain"}, args[2]) ||
		slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--dry-run") })
}

// fits runs a command on narrower terminals: no line may be too long, and no word broken. What
// stands on a terminal without a width has all words.
func fits(ts *testscript.TestScript, args []string, whole string) {
	for _, most := range of(ts).widths {
		_, screen, _ := onTerminal(ts, most, false, false, args)
		if most == 0 {
			whole += screen
			continue
		}
		for _, line := range misfits(whole, screen, most) {
			ts.Fatalf("on a terminal with %d columns: %s\n%s", most, line, screen)
		}
	}
}

// label is how many columns the label in front of a text takes at most.
const label = 20

// misfits says what is wrong with what stands on a narrow terminal, beside what stands on a wide
// one: a line that is too long, unless it is a command or has a word of that length, behind a label,
// and a word that is broken.
func misfits(wide, narrow string, most int) []string {
	var wrong []string
	whole := strings.Fields(standIns(wide))
	for _, line := range strings.Split(narrow, "\n") {
		long := slices.ContainsFunc(strings.Fields(line), func(word string) bool { return len(word) > most-label })
		command := strings.HasPrefix(strings.TrimLeft(line, " 0123456789."), "kubectl ")
		if utf8.RuneCountInString(line) > most && !long && !command {
			wrong = append(wrong, fmt.Sprintf("too long: %q", line))
		}
	}
	for _, line := range strings.Split(tooNarrow.ReplaceAllString(standIns(narrow), ""), "\n") {
		for _, word := range strings.Fields(line) {
			if !strings.Contains(line, "…") && !slices.Contains(whole, word) {
				wrong = append(wrong, fmt.Sprintf("broken: %q in %q", word, line))
			}
		}
	}
	return wrong
}

// tooNarrow says what only a narrow terminal does: which columns are not there.
var tooNarrow = regexp.MustCompile(`\(the terminal is too narrow[^)]*\)`)

// typed is a command as it would be typed.
func typed(args []string) string {
	words := slices.Clone(args)
	for i, word := range words {
		if strings.ContainsAny(word, " *{}$;|<>") {
			words[i] = "'" + word + "'"
		}
	}
	return "$ " + strings.Join(words, " ") + "\n"
}

// question is asked for a yes, or for a name.
var question = regexp.MustCompile(`(?:\(y/N\)|type the name (\S+)): $`)

// onTerminal runs a command with a terminal as stdin and stdout, but for stderr, where progress
// would be drawn over and over.
func onTerminal(ts *testscript.TestScript, columns int, yes, colors bool, args []string) (
	code int, screened, stderrText string,
) {
	keyboard, screen, err := terminal.Open(columns)
	ts.Check(err)
	defer keyboard.Close()
	var stderr bytes.Buffer
	cmd := command(ts, args)
	if colors {
		cmd.Env = append(cmd.Env, "TERM=xterm")
	} else {
		cmd.Env = append(cmd.Env, "NO_COLOR=1")
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, &stderr
	ts.Check(errors.Join(cmd.Start(), screen.Close()))
	var seen strings.Builder
	for buffer := make([]byte, 4096); err == nil; { // until nobody has the terminal any more
		var n int
		n, err = keyboard.Read(buffer)
		seen.Write(buffer[:n])
		if m := question.FindStringSubmatch(seen.String()); yes && m != nil {
			_, err = io.WriteString(keyboard, cmp.Or(m[1], "y")+"\n")
			yes = false
		}
	}
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		ts.Check(err)
	}
	return cmd.ProcessState.ExitCode(), strings.ReplaceAll(seen.String(), "\r", ""), stderr.String()
}

// typing KEYS SCREEN COMMAND ARGUMENT... runs a command on a terminal on which the file KEYS is typed,
// and the end of it, and writes what it shows to the file SCREEN. The ttyin of testscript closes the
// terminal before all of it was read.
func typing(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: typing KEYS SCREEN COMMAND ARGUMENT...")
	}
	keyboard, screen, err := terminal.Open(0)
	ts.Check(err)
	defer keyboard.Close()
	cmd := command(ts, args[2:])
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	ts.Check(errors.Join(cmd.Start(), screen.Close()))
	_, err = io.WriteString(keyboard, ts.ReadFile(args[0])+"\x04")
	ts.Check(err)
	seen, err := io.ReadAll(keyboard)
	if !errors.Is(err, syscall.EIO) { // nobody has the terminal any more
		ts.Check(err)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), bytes.ReplaceAll(seen, []byte("\r"), nil), 0o600))
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		ts.Check(err)
	}
	if failed := err != nil; failed != neg {
		ts.Fatalf("exit code %d of what showed:\n%s", cmd.ProcessState.ExitCode(), seen)
	}
}

// command is one in the script's environment and folder.
func command(ts *testscript.TestScript, args []string) *exec.Cmd {
	path := args[0]
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if info, err := os.Stat(filepath.Join(dir, args[0])); err == nil && !info.IsDir() {
			path = filepath.Join(dir, args[0])
			break
		}
	}
	cmd := exec.Command(path, args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, key := range of(ts).environment {
		cmd.Env = append(cmd.Env, key+"="+ts.Getenv(key))
	}
	return cmd
}
