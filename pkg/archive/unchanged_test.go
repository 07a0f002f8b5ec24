package archive

import (
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestAnArchiveCoversWhatIsNotChangedSince: status and what the server and the collector write may
// change all the time and are no loss; anything else would be lost by a delete.
func TestAnArchiveCoversWhatIsNotChangedSince(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, test := range map[string]struct {
		patch, subresource string
		want               error
	}{
		"nothing":                   {},
		"status":                    {patch: `{"status":{"observedGeneration":1}}`, subresource: "status"},
		"the collector's finalizer": {patch: `{"metadata":{"finalizers":["foregroundDeletion"]}}`},
		"another's finalizer":       {patch: `{"metadata":{"finalizers":["example.com/x"]}}`, want: ErrChanged},
		"an owner":                  {patch: `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"66666666-6666-6666-6666-666666666666"}]}}`, want: ErrChanged},
		"a label":                   {patch: `{"metadata":{"labels":{"any":"thing"}}}`, want: ErrChanged},
		"the specification":         {patch: `{"spec":{"replicas":7}}`, want: ErrChanged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := c.Namespace(t)
			c.Kubectl(t, "create", "deployment", "web", "--image=c", "-n", ns)
			proxy := faultproxy.Start(t, c.Config())
			client, p := planned(t, proxy.Config(), ns, "deployments.apps/web")
			saved, err := Save(t.Context(), client, filepath.Join(t.TempDir(), "a.yaml"), OfPlan(p), head())
			if err != nil {
				t.Fatal(err)
			}
			if test.patch != "" {
				args := []string{"patch", "deployment", "web", "-n", ns, "--type=merge", "-p", test.patch}
				if test.subresource != "" {
					args = append(args, "--subresource="+test.subresource)
				}
				c.Kubectl(t, args...)
			}
			root, ref := p.Roots[0], p.Graph.Ref(p.Roots[0])
			typ, _ := p.Graph.Type(root)
			now, err := client.GetMeta(t.Context(), typ, ns, "web")
			if err != nil {
				t.Fatal(err)
			}
			before := len(proxy.Requests())
			if err := saved.Covers(t.Context(), client, typ, ref, now.ResourceVersion); !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
			if test.patch == "" && len(proxy.Requests()) != before {
				t.Error("the version that is in the archive was read again")
			}
			if missing := saved.Missing(p); len(missing) != 0 || !saved.Has(ref.UID) {
				t.Errorf("missing: %v", missing)
			}
		})
	}
}

// TestWhatIsNotInTheArchiveIsNotCovered, nor is what cannot be compared. One that is gone, or
// replaced, is lost by no delete.
func TestWhatIsNotInTheArchiveIsNotCovered(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	for _, name := range []string{"one", "gone", "again", "later", "unread"} {
		c.Kubectl(t, "create", "configmap", name, "-n", ns)
	}
	proxy := faultproxy.Start(t, c.Config())
	client, p := planned(t, proxy.Config(), ns, "configmaps/one", "configmaps/gone", "configmaps/again",
		"configmaps/later", "configmaps/unread")
	saved, err := Save(t.Context(), client, filepath.Join(t.TempDir(), "a.yaml"),
		OfPlan(plan.New(p.Graph, p.Roots[:2], plan.Background, plan.Options{})), head())
	if err != nil {
		t.Fatal(err)
	}
	if missing := saved.Missing(p); len(missing) != 3 {
		t.Errorf("missing: %v, want three", missing)
	}
	all, err := Save(t.Context(), client, filepath.Join(t.TempDir(), "b.yaml"), OfPlan(p), head())
	if err != nil {
		t.Fatal(err)
	}
	c.Kubectl(t, "delete", "configmap", "gone", "again", "-n", ns)
	c.Kubectl(t, "create", "configmap", "again", "-n", ns)
	proxy.On(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/unread") },
		faultproxy.Plain(404, "no such page"))
	for _, id := range p.Roots {
		typ, _ := p.Graph.Type(id)
		ref := p.Graph.Ref(id)
		err := all.Covers(t.Context(), client, typ, ref, "1")
		if unread := ref.Name == "unread"; (err != nil) != unread || unread &&
			!strings.Contains(err.Error(), "could not be compared") {
			t.Errorf("%s: %v", ref.Name, err)
		}
		if !saved.Has(ref.UID) {
			if err := saved.Covers(t.Context(), client, typ, ref, p.Graph.ResourceVersion(id)); !errors.Is(err, ErrMissing) {
				t.Errorf("%s: %v, want %v", ref.Name, err, ErrMissing)
			}
		}
	}
}

// TestAnArchiveCoversWhatThePlanItselfSets: the policy of a claim is set before the claim is
// deleted, which is no loss; what somebody else changes beside it is one.
func TestAnArchiveCoversWhatThePlanItselfSets(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Kubectl(t, "create", "configmap", "claim", "--from-literal=policy=Background", "-n", ns)
	client, p := planned(t, c.Config(), ns, "configmaps/claim")
	field, err := link.ParsePath("data.policy")
	if err != nil {
		t.Fatal(err)
	}
	p.Actions = append(p.Actions, plan.Action{Verb: plan.VerbSetPolicy, Object: p.Roots[0],
		Setting: &plan.Setting{Field: field, Value: "Foreground"}})
	saved, err := Save(t.Context(), client, filepath.Join(t.TempDir(), "a.yaml"), OfPlan(p), head())
	if err != nil {
		t.Fatal(err)
	}
	typ, _ := p.Graph.Type(p.Roots[0])
	for _, test := range []struct {
		patch string
		want  error
	}{{`{"data":{"policy":"Foreground"}}`, nil}, {`{"data":{"other":"thing"}}`, ErrChanged}} {
		c.Kubectl(t, "patch", "configmap", "claim", "-n", ns, "--type=merge", "-p", test.patch)
		if err := saved.Covers(t.Context(), client, typ, p.Graph.Ref(p.Roots[0]), "another"); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.patch, err, test.want)
		}
	}
}
