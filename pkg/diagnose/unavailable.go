package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// unavailable returns the APIServices of a gap's group that are not available.
func (e *unlisted) unavailable(ctx context.Context, gap v1alpha1.Gap) []core.Finding {
	services, err := e.aggregated(ctx, gap.Group)
	if err != nil {
		return e.unseen(gap, err)
	}
	var findings []core.Finding
	for _, o := range services {
		c, said := status.Find(o, "Available")
		if c.Status == "True" {
			continue
		}
		f := core.Finding{Code: core.APIServiceUnavailable, About: new(e.Ref(o))}
		since := ""
		if !c.Since.IsZero() {
			since = fmt.Sprintf(" for %s", phrase.Ago(e.Now.Sub(c.Since)))
		}
		if said {
			f.Observe("its condition Available is %s%s: %s: %s", c.Status, since, c.Reason, c.Message)
		} else {
			f.Observe("it has never become available")
		}
		s, _ := admission.APIService(o)
		b := e.refusal.Called(ctx, s)
		f.Evidence = append(f.Evidence, b.Evidence...)
		f.Args = []string{"{revival}", b.Revival()}
		f.Commands = append(slices.Clone(b.Restore), core.Command("kubectl", "delete", "OBJECT").Doing("removes the registration: nothing serves the group"))
		f = e.refusal.Revivable(ctx, f, b, "The remaining option is to delete the APIService: only the registration is removed.")
		findings = append(findings, f)
	}
	return findings
}

// unseen is for an aggregated API whose APIService the user may not look at. Nothing but an aggregated API fails in discovery.
func (e *unlisted) unseen(gap v1alpha1.Gap, err error) []core.Finding {
	if gap.Reason != v1alpha1.GapDiscoveryFailed {
		return nil
	}
	f := core.Finding{
		Code: core.APIServiceUnavailable, Evidence: core.Observed(gap.Message, fmt.Sprintf("APIServices cannot be listed: %v", err)),
		Args: []string{"{revival}", "Restore the server of the API."},
	}
	said, _, _ := strings.Cut(gap.Message, ":")
	if gv, err := schema.ParseGroupVersion(said); err == nil && gv.Group == gap.Group {
		f.About = &v1alpha1.ObjectRef{APIVersion: cluster.APIServices.Group + "/v1", Kind: "APIService", Resource: cluster.APIServices.Resource, Name: gv.Version + "." + gv.Group}
		f.Commands = []core.Step{core.Command("kubectl", "delete", "OBJECT")}
	}
	return []core.Finding{f}
}

// aggregated returns the APIServices of a group that a Service serves, and not kube-apiserver itself.
func (e *unlisted) aggregated(ctx context.Context, group string) ([]*unstructured.Unstructured, error) {
	all, err := e.Reader.ListObjects(ctx, cluster.APIServices, "", cluster.Selection{})
	var of []*unstructured.Unstructured
	for _, o := range all {
		g, _, _ := unstructured.NestedString(o.Object, "spec", "group")
		if _, served := admission.APIService(o); served && g == group {
			of = append(of, o)
		}
	}
	return of, err
}
