package delete

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/approval"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// readApproval reads what --confirm names before anything is asked of the server.
func (o *Options) readApproval(cmd *cobra.Command) error {
	var err error
	switch {
	case !cmd.Flags().Changed("confirm"):
		return nil
	case o.Yes:
		return env.Usage(cmd, "--confirm and --yes cannot be used together: --confirm agrees to one plan only")
	case o.Interactive:
		return env.Usage(cmd, "--confirm and --interactive cannot be used together: --confirm answers the question")
	}
	if o.approved, err = approval.Read(o.Confirm); err != nil {
		return env.Usage(cmd, "--confirm: %w", err)
	}
	return nil
}

// confirmed returns the refusal of a plan that is not the approved one; nil if there is no
// approval.
func (o *Options) confirmed(p *deletion.Planned) error {
	if o.approved == nil {
		return nil
	}
	if o.approved.Digest == p.Digest() {
		return nil
	}
	now := printed(p)
	err := fmt.Errorf("nothing was deleted: the plan is not the approved one: its digest is %s, and %s was approved",
		now.Digest, o.approved.Digest)
	difference := o.approved.Difference(now)
	if difference == nil {
		return answer.Refuse(answer.WithHint(err,
			"--confirm=FILE with the approved plan, as -o json printed it, shows the difference"))
	}
	fmt.Fprintln(o.ErrOut, render.PlanDifference(difference))
	return answer.Refuse(err)
}
