package check

import (
	"context"
	"errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/check"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// manifests checks what is in the files.
func (o *Options) manifests(ctx context.Context) (*v1alpha1.CheckReport, error) {
	all, err := selection.Manifests(ctx, o.Objects.Files)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 { // as of a template that failed: a check of nothing passes everything
		return nil, errors.New("no objects found in the files: check that the manifests were rendered")
	}
	namespace, err := o.Namespace()
	if err != nil {
		return nil, err
	}
	if o.Local {
		return check.Local(all, namespace), nil
	}
	client, catalog, err := o.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return check.Manifests(ctx, client, catalog, all, namespace)
}
