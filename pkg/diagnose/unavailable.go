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
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// unavailable returns the APIServices of a gap's group that are not available.
func (e *unlisted) unavailable(ctx context.Context, gap v1alpha1.Gap) []finding {
	services, err := e.aggregated(ctx, gap.Group)
	if err != nil {
		return e.unseen(gap, err)
	}
	var findings []finding
	for _, o := range services {
		c, said := status.Find(o, "Available")
		if c.Status == "True" {
			continue
		}
		about := e.ref(o)
		f := finding{code: APIServiceUnavailable, about: &about}
		since := ""
		if !c.Since.IsZero() {
			since = fmt.Sprintf(" for %s", phrase.Ago(e.now.Sub(c.Since)))
		}
		if said {
			f.evidence = append(f.evidence, observed(fmt.Sprintf("its condition Available is %s%s: %s: %s", c.Status, since, c.Reason, c.Message))...)
		} else {
			f.evidence = append(f.evidence, observed("it has never become available")...)
		}
		s, _ := admission.APIService(o)
		b := e.refusal.called(ctx, s)
		f.evidence = append(f.evidence, b.evidence...)
		f.remedy = b.revival() + " If its component was uninstalled, delete the APIService: only the registration is removed."
		f.commands = append(slices.Clone(b.restore), command("kubectl", "delete", "OBJECT").doing("removes the registration: nothing serves the group"))
		f = e.refusal.revivable(ctx, f, b, "The remaining option is to delete the APIService: only the registration is removed.")
		findings = append(findings, f)
	}
	return findings
}

// unseen is for an aggregated API whose APIService the user may not look at. Nothing but an aggregated API fails in discovery.
func (e *unlisted) unseen(gap v1alpha1.Gap, err error) []finding {
	if gap.Reason != v1alpha1.GapDiscoveryFailed {
		return nil
	}
	f := finding{
		code: APIServiceUnavailable, evidence: observed(gap.Message, fmt.Sprintf("APIServices cannot be listed: %v", err)),
		remedy: "Restore the server of the API. If its component was uninstalled, delete the APIService: only the registration is removed.",
	}
	said, _, _ := strings.Cut(gap.Message, ":")
	if gv, err := schema.ParseGroupVersion(said); err == nil && gv.Group == gap.Group {
		f.about = &v1alpha1.ObjectRef{APIVersion: cluster.APIServices.Group + "/v1", Kind: "APIService", Resource: cluster.APIServices.Resource, Name: gv.Version + "." + gv.Group}
		f.commands = []step{command("kubectl", "delete", "OBJECT")}
	}
	return []finding{f}
}

// aggregated returns the APIServices of a group that a Service serves, and not kube-apiserver itself.
func (e *unlisted) aggregated(ctx context.Context, group string) ([]*unstructured.Unstructured, error) {
	all, err := e.reader.ListObjects(ctx, cluster.APIServices, "", cluster.Selection{})
	var of []*unstructured.Unstructured
	for _, o := range all {
		g, _, _ := unstructured.NestedString(o.Object, "spec", "group")
		if _, served := admission.APIService(o); served && g == group {
			of = append(of, o)
		}
	}
	return of, err
}
