package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"
)

// errUnread ends a command whose output nobody reads any more, as that before a head or a pager.
var errUnread = fmt.Errorf("what it prints is not read any more: %w", context.Canceled)

// whileRead returns a context that also ends when a write to one of the streams finds its reader
// gone. Terminals stay what they are: they end by a signal.
func whileRead(ctx context.Context, streams genericiooptions.IOStreams) (context.Context, genericiooptions.IOStreams,
	func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	watched := func(w io.Writer) io.Writer {
		if printers.IsTerminal(w) {
			return w
		}
		return &readWriter{w, func() { cancel(errUnread) }}
	}
	streams.Out, streams.ErrOut = watched(streams.Out), watched(streams.ErrOut)
	return ctx, streams, func() { cancel(nil) }
}

// readWriter calls unread when a write fails since nobody reads.
type readWriter struct {
	io.Writer
	unread func()
}

// noReaderError is of a write to one of the streams. A file of the command's, such as an audit, can
// be a pipe too: that nobody reads it is to be told.
type noReaderError struct{ error }

func isUnread(err error) bool { return errors.As(err, &noReaderError{}) }

// Write implements io.Writer.
func (w *readWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		w.unread()
		err = noReaderError{err}
	}
	return n, err
}
