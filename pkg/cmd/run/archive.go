package run

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// archive is the file of --archive; nil without one.
func (o *Options) archive() *collect.Archive {
	if o.Archive == "" {
		return nil
	}
	return &collect.Archive{
		File:    o.Archive,
		Head:    o.planned,
		OnSaved: func(saved *archive.Saved) { o.Archived(saved, false) },
	}
}

// planned is a plan as it is printed.
func (o *Options) planned(p *collect.Proposal) *v1alpha1.Plan {
	shown := render.RunPlan(p, o.examined)
	return shown.Printed(shown.Gaps)
}
