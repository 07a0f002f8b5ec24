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
)

// The values of --log-format.
var logFormats = []string{"text", "json"}

// setLogFormat has everything that goes to stderr written in the format of --log-format: progress,
// warnings, errors, and what client-go logs.
func (e *Env) setLogFormat() error {
	switch e.LogFormat {
	case "text":
		return nil
	case "json":
		logger := slog.New(slog.NewJSONHandler(e.ErrOut, nil))
		e.ErrOut = &logLines{logger: logger}
		klog.SetSlogLogger(logger)
		return nil
	}
	return fmt.Errorf("--log-format must be %s, not %q", strings.Join(logFormats, " or "), e.LogFormat)
}

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
