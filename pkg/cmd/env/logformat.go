package env

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"k8s.io/klog/v2"

	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// The values of --log-format.
var logFormats = []string{"text", "json"}

// setLogFormat has everything that goes to stderr written in the format of --log-format: progress,
// warnings, errors, and what client-go logs.
func (e *Env) setLogFormat() error {
	switch e.LogFormat {
	case "text":
		if worded && klog.V(1).Enabled() { // who asks for a log gets one
			klog.ClearLogger()
		}
		return nil
	case "json":
		logger := slog.New(slog.NewJSONHandler(e.ErrOut, nil))
		e.ErrOut = &logLines{logger: logger}
		klog.SetSlogLogger(logger)
		return nil
	}
	return fmt.Errorf("--log-format must be %s, not %q", strings.Join(logFormats, " or "), e.LogFormat)
}

// worded reports whether a process has called WordLog.
var worded bool

// WordLog has what client-go logs written as warnings are, without what klog puts in front of a
// line, and only errors, until a verbosity asks for more. It is for the beginning of a process: the
// logger is one for all of it.
func WordLog(out io.Writer) {
	worded = true
	klog.SetSlogLogger(slog.New(warnings{out}))
}

// warnings writes errors that are logged as kubectl words warnings.
type warnings struct{ out io.Writer }

var _ slog.Handler = warnings{}

// Enabled is true of errors, and of warnings that say so: those of klog do not.
func (warnings) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle writes one, with its error.
func (w warnings) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "err" {
			line += ": " + a.Value.String()
		}
		return true
	})
	_, err := fmt.Fprintf(w.out, "Warning: %s\n", render.Escape(strings.TrimSpace(line)))
	return err
}

// WithAttrs is of no use here: they are not written.
func (w warnings) WithAttrs([]slog.Attr) slog.Handler { return w }

// WithGroup is of no use here either.
func (w warnings) WithGroup(string) slog.Handler { return w }

// logLines logs each line that is written to it. It is safe for concurrent use.
type logLines struct {
	logger *slog.Logger
	mu     sync.Mutex
	begun  []byte // a line that has not ended
}

var _ io.Writer = (*logLines)(nil)

// Write logs the lines that end in text, and remembers the last one until it ends.
func (l *logLines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun = append(l.begun, text...)
	for {
		line, rest, ended := bytes.Cut(l.begun, []byte("\n"))
		if !ended {
			return len(text), nil
		}
		l.begun = rest
		if len(line) > 0 {
			// An io.Writer has no context.
			l.logger.Log(context.Background(), levelOf(string(line)), string(line))
		}
	}
}

// levelOf tells a line's level by how kubectl's words begin.
func levelOf(line string) slog.Level {
	switch {
	case strings.HasPrefix(line, "Warning: "):
		return slog.LevelWarn
	case strings.HasPrefix(line, "error: "), strings.HasPrefix(line, "Error "),
		strings.HasPrefix(line, "Unable to connect "), strings.HasPrefix(line, "The connection to the server "):
		return slog.LevelError
	}
	return slog.LevelInfo
}
