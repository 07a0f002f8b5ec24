package script

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

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
	code, out := onTerminal(ts, yes, colors, args[1:])
	// nobody is blamed yet
	for deadline := time.Now().Add(patience); strings.HasPrefix(out, "InProgress\n") && time.Now().Before(deadline); {
		code, out = onTerminal(ts, yes, colors, args[1:])
	}
	_, err = io.WriteString(ts.Stdout(), standIns(typed(args[1:])+strings.ReplaceAll(out, "\x1b", escape)))
	ts.Check(err)
	if code != want {
		ts.Fatalf("exit code %d, want %d:\n%s", code, want, out)
	}
}

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

// onTerminal runs a command with a terminal as stdin and stdout, but for stderr, where progress
// would be drawn over and over.
func onTerminal(ts *testscript.TestScript, yes, colors bool, args []string) (code int, out string) {
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
		if yes && strings.HasSuffix(seen.String(), "(y/N): ") {
			_, err = io.WriteString(keyboard, "y\n")
			yes = false
		}
	}
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		ts.Check(err)
	}
	return cmd.ProcessState.ExitCode(), strings.ReplaceAll(seen.String(), "\r", "") + stderr.String()
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
