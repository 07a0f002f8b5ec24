// Package audit appends to a file what a command planned, had agreed to and did, a line of JSON
// each.
package audit

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// mode is for the owner alone: what was deleted is nobody else's business.
const mode = 0o600

// The events of entries.
const (
	// Agreed is written before the first write of a plan.
	Agreed = "Agreed"
	// Refused is written of a plan that is not performed.
	Refused = "Refused"
	// Written is a write that was carried out, and Failed one that was tried and was not, or of
	// which that is not known.
	Written = "Written"
	Failed  = "Failed"
	// Ended is the last entry of a command.
	Ended = "Ended"
)

// Log is the file of one command. A nil Log writes nothing. It is safe for concurrent use.
type Log struct {
	name  string
	run   string
	now   func() time.Time
	onErr func(error)

	mu     sync.Mutex
	file   io.WriteCloser
	of     v1alpha1.Origin // of the entries so far
	failed error
}

// Open opens a file to append to, and creates it if it does not exist. OnError is called once, with
// the first entry that cannot be written; nothing more is written to the file then.
func Open(name string, onError func(error)) (*Log, error) {
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, mode)
	if err != nil {
		return nil, err
	}
	return newLog(name, file, onError, time.Now), nil
}

func newLog(name string, file io.WriteCloser, onError func(error), now func() time.Time) *Log {
	return &Log{name: name, run: rand.Text(), now: now, onErr: onError, file: file}
}

// Write appends an entry, to which it adds the time, the run and the cluster of the entries before,
// in one write, so that the lines of several commands do not mix. The error is that of the first
// entry that could not be written.
func (l *Log) Write(e v1alpha1.AuditEntry) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return l.failed
	}
	if e.ClusterRef != nil {
		l.of = e.Origin
	}
	e.Origin = l.of
	e.TypeMeta, e.Time, e.Run = v1alpha1.TypeMeta("AuditEntry"), metav1.NewMicroTime(l.now().UTC()), l.run
	line, err := json.Marshal(e)
	if err == nil {
		_, err = l.file.Write(append(line, '\n'))
	}
	if err != nil {
		l.failed = fmt.Errorf("writing the audit file %s: %w", l.name, err)
		l.onErr(l.failed)
	}
	return l.failed
}

// Close ends the file. The error is that of the first entry that could not be written, or of the
// file if it could not be stored.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.file.Close()
	switch {
	case l.failed != nil:
		return l.failed
	case err != nil:
		return fmt.Errorf("writing the audit file %s: %w", l.name, err)
	}
	return nil
}
