package delete

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
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
	if o.audit, err = audit.Open(o.AuditFile, cancel); err != nil {
		return err
	}
	err = command(ctx)
	ended := v1alpha1.AuditEntry{Event: audit.Ended}
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
	entry := v1alpha1.AuditEntry{Event: audit.Agreed, How: how, Plan: printed(p)}
	if refused != nil {
		entry.Event, entry.How, entry.Error = audit.Refused, "", refused.Error()
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
	entry := v1alpha1.AuditEntry{Event: audit.Written, Action: &action}
	if err != nil {
		entry.Event, entry.Error = audit.Failed, err.Error()
	}
	_ = o.audit.Write(entry) // an error ends the context
}
