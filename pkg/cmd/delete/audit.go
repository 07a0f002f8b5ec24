package delete

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
)

// checkAudit finds what is wrong with --audit-file before anything is asked of the server.
func (o *Options) checkAudit(cmd *cobra.Command) error {
	switch {
	case !cmd.Flags().Changed("audit-file"):
		return nil
	case o.AuditFile == "":
		return env.Usage(cmd, "--audit-file needs the name of a file")
	case o.AuditFile == "-":
		return env.Usage(cmd, "--audit-file does not write to standard output, which is for the result; name a file")
	case o.DryRun != "none":
		return env.Usage(cmd, "--audit-file needs a deletion; remove --dry-run")
	}
	return nil
}

// audited runs the command with its audit file. When an entry cannot be written, the context of the
// command ends, so that nothing more is written to the server.
func (o *Options) audited(ctx context.Context, command func(context.Context) error) error {
	if o.AuditFile == "" {
		return command(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var err error
	if o.audit, err = openAudit(o.AuditFile, cancel); err != nil {
		return err
	}
	err = command(ctx)
	ended := v1alpha1.AuditEntry{Event: v1alpha1.AuditEnded}
	if err != nil {
		ended.Error = err.Error()
	}
	_ = o.audit.Write(ended) // Close returns the error
	if closed := o.audit.Close(); closed != nil && !errors.Is(err, closed) {
		err = errors.Join(err, closed)
	}
	return err
}

// auditPlan writes what was agreed to, or refused with an error, which it returns; or that the
// entry cannot be written.
func (o *Options) auditPlan(ctx context.Context, p *deletion.Planned, how string, refused error) error {
	if o.audit == nil {
		return refused
	}
	entry := v1alpha1.AuditEntry{Event: v1alpha1.AuditAgreed, How: how, Plan: printed(p)}
	if refused != nil {
		entry.Event, entry.How, entry.Error = v1alpha1.AuditRefused, "", refused.Error()
	}
	o.identify(ctx, &entry)
	if err := o.audit.Write(entry); refused == nil {
		return err
	}
	return refused
}

// identify says who writes to which server, as far as that is known.
func (o *Options) identify(ctx context.Context, entry *v1alpha1.AuditEntry) {
	if client, err := o.Client(); err == nil {
		if entry.User, err = client.WhoAmI(ctx); err != nil {
			klog.FromContext(ctx).V(1).Info("The server does not tell the name of the user, so the audit file has none",
				"err", err)
		}
		entry.Cluster, _ = client.Identity(ctx) // a context that has ended ends the command
	}
	entry.Context, entry.Server = o.Cluster()
	ref := o.ClusterRef()
	ref.UID = entry.Cluster
	entry.SetClusterRef(ref)
}

// how says what agrees to a plan.
func (o *Options) how() string {
	switch {
	case o.approved != nil:
		return "confirm"
	case o.Yes && !o.Interactive:
		return "yes"
	}
	return "prompt"
}

// auditAction writes what came of a write.
func (o *Options) auditAction(action v1alpha1.Action, err error) {
	entry := v1alpha1.AuditEntry{Event: v1alpha1.AuditWritten, Action: &action}
	if err != nil {
		entry.Event, entry.Error = v1alpha1.AuditFailed, err.Error()
	}
	_ = o.audit.Write(entry) // an error ends the context
}

// auditMode is for the owner alone: what was deleted is nobody else's business.
const auditMode = 0o600

// auditLog is the file of one command, to which it appends what it planned, had agreed to and did,
// a line of JSON each. It is safe for concurrent use.
type auditLog struct {
	name  string
	run   string
	now   func() time.Time
	onErr func(error)

	mu     sync.Mutex
	file   io.WriteCloser
	of     v1alpha1.Origin // of the entries so far
	failed error
}

// openAudit opens a file to append to, and creates it if it does not exist. OnError is called once,
// with the first entry that cannot be written; nothing more is written to the file then.
func openAudit(name string, onError func(error)) (*auditLog, error) {
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, auditMode)
	if err != nil {
		return nil, err
	}
	return newAuditLog(name, file, onError, time.Now), nil
}

func newAuditLog(name string, file io.WriteCloser, onError func(error), now func() time.Time) *auditLog {
	return &auditLog{name: name, run: rand.Text(), now: now, onErr: onError, file: file}
}

// Write appends an entry, to which it adds the time, the run and the cluster of the entries before,
// in one write, so that the lines of several commands do not mix. The error is that of the first
// entry that could not be written.
func (l *auditLog) Write(e v1alpha1.AuditEntry) error {
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
func (l *auditLog) Close() error {
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
