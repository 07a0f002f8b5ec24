package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m, testcluster.NoControllers()) }

// subject names an object by resource.group/name, and its namespace if it is in one.
type subject struct{ object, namespace string }

// examine explains objects by name, or all that is being deleted in a namespace if there are none.
func examine(t testing.TB, config *rest.Config, opts Options, namespace string,
	subjects ...subject) *v1alpha1.Diagnosis {
	t.Helper()
	listed := fixture.List(t, config, cluster.ListOptions{Namespace: namespace})
	of := Subjects{In: func(id graph.ID) bool { return listed.Graph.Ref(id).Namespace == namespace }}
	for _, s := range subjects {
		resource, name, _ := strings.Cut(s.object, "/")
		gr := schema.ParseGroupResource(resource)
		of.Observed = append(of.Observed, listed.Find(t, gr.Group, gr.Resource, s.namespace, name))
	}
	if opts.limits.Young == 0 {
		opts.limits.Young = -1 // what a test has deleted a moment ago is what it means to be stuck
	}
	if opts.limits.Pause == nil {
		opts.limits.Pause = func(context.Context, time.Time) error { return nil }
	}
	if opts.Known == nil {
		opts.Known = fixture.Packs(t)
	}
	d, err := Examine(t.Context(), listed.Client,
		core.Snapshot{Catalog: listed.Catalog, Graph: listed.Graph, Gaps: listed.Gaps}, of, opts)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// causesOf writes the causes of each stuck object: its name, and code and object of each cause.
func causesOf(d *v1alpha1.Diagnosis) map[string][]string {
	all := map[string][]string{}
	for _, s := range d.Stuck {
		name := s.Object.Kind + "/" + s.Object.Name
		all[name] = []string{}
		for _, c := range s.Causes {
			all[name] = append(all[name], fmt.Sprintf("%s %s/%s", c.Code, c.Object.Kind, c.Object.Name))
		}
	}
	return all
}

// general are the sentences that kinds of causes have of themselves, of those whose causes name what
// refuses, does not answer or is gone.
var general = func() map[string]bool {
	all := map[string]bool{}
	for _, k := range core.Kinds {
		switch k.Code {
		case core.AdmissionDenied, core.AdmissionWebhookDown, core.APIServiceUnavailable, core.ConversionWebhookDown,
			core.NodeGone, core.NodeNotReady, core.VolumeAttached:
			all[phrase.Sentence(k.Means())] = true
		}
	}
	return all
}()

func wantCauses(t testing.TB, d *v1alpha1.Diagnosis, want map[string][]string) {
	t.Helper()
	if diff := cmp.Diff(want, causesOf(d)); diff != "" {
		t.Errorf("causes (-want +got):\n%s\n%+v", diff, d.Stuck)
	}
	for _, s := range d.Stuck {
		for _, c := range s.Causes {
			if general[c.Summary] {
				t.Errorf("%s: %q names nobody", c.Code, c.Summary)
			}
		}
	}
}

// wantEvidence fails if no clause of the evidence of a cause contains the text.
func wantEvidence(t testing.TB, c v1alpha1.Cause, text string) {
	t.Helper()
	if !slices.ContainsFunc(c.Evidence, func(e string) bool { return strings.Contains(e, text) }) {
		t.Errorf("%s: the evidence %q does not say %q", c.Code, c.Evidence, text)
	}
}

// deleted deletes objects without waiting.
func deleted(t testing.TB, c *testcluster.Cluster, args ...string) {
	t.Helper()
	c.Kubectl(t, append([]string{"delete", "--wait=false"}, args...)...)
}
