package unfinalize

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
)

// terminating deletes the namespace of the test, which nobody empties here.
func (f *fixture) terminating() {
	f.t.Helper()
	f.delete(cluster.NamespaceType, f.namespace, metav1.DeletePropagationBackground)
}

// quick proves a namespace empty in less time.
func quick(client *cluster.Client) *Assessor {
	j := newAssessor(client, lives{})
	j.apart = 10 * time.Millisecond
	return j
}

func (f *fixture) judgeNamespace(client *cluster.Client) *Candidate {
	f.t.Helper()
	return f.judgeBy(quick(client), cluster.NamespaceType, []string{"kubernetes"}, f.namespace)[0]
}

func listOf(resource string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/"+resource)
	}
}

// empty answers a list as if there were nothing.
func empty(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(
		w, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"items":[]}`)
}

// TestEmptyNamespaceIsFinalized_P20: by two listings and one right before; all else of the object
// is as it was (T-19).
func TestEmptyNamespaceIsFinalized_P20(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.c.Kubectl(t, "annotate", "namespace", f.namespace, "example.com/a=b")
	f.c.Kubectl(t, "patch", "namespace", f.namespace, "--type=merge", "-p", `{"metadata":{"finalizers":["`+hold+`"]}}`)
	f.terminating()
	was := f.get(cluster.NamespaceType, f.namespace)
	proxy := faultproxy.Start(t, f.c.Config())
	client := connect(t, proxy.Config())
	c := f.judgeNamespace(client)
	if c.Refused(Overrides{}) {
		t.Fatalf("refused: %+v", c.Assessments)
	}
	// Somebody changes it meanwhile: that stays.
	before(proxy, method(http.MethodPut),
		func() { f.c.Kubectl(t, "label", "namespace", f.namespace, "example.com/late=yes") })
	o := f.perform(client, Options{}, c)[0]
	want(t, o, "finalizeNamespace "+f.namespace+" kubernetes; left: "+hold)
	now := f.get(cluster.NamespaceType, f.namespace)
	if now.GetAnnotations()["example.com/a"] != "b" || now.GetLabels()["example.com/late"] != "yes" ||
		len(now.GetLabels()) != len(was.GetLabels())+1 {
		t.Errorf("now %v %v", now.GetAnnotations(), now.GetLabels())
	}
	lists := 0
	for _, r := range proxy.Requests() {
		if r.Method == http.MethodGet && strings.HasSuffix(r.Path, "/namespaces/"+f.namespace+"/configmaps") {
			lists++
		}
	}
	if lists != 4 { // two for the proof, one before each of two writes
		t.Errorf("%d lists of config maps, want 4", lists)
	}
	f.free(cluster.NamespaceType, f.namespace)
	f.is(cluster.NamespaceType, f.namespace)
}

// TestContentThatComesLate_P20: between the two listings of the proof, and between the proof and
// the write.
func TestContentThatComesLate_P20(t *testing.T) {
	t.Parallel()
	for times, want := range map[int]string{1: "second listing", 2: "before the write"} {
		t.Run(want, func(t *testing.T) {
			f := newFixture(t)
			f.make(configMapType, "late")
			f.terminating()
			proxy := faultproxy.Start(t, f.c.Config())
			proxy.On(listOf("configmaps"), faultproxy.Times(times, empty))
			client := connect(t, proxy.Config())
			c := f.judgeNamespace(client)
			if times == 1 {
				if got := codes(c, Overrides{}); !slices.Equal(got, []Code{NotEmpty}) || c.Stranded().Remaining[0].Name != "late" {
					t.Errorf("refusals %v and left %v, want NotEmpty", got, c.Stranded())
				}
				return
			}
			o := f.perform(client, Options{}, c)[0]
			var refused *RefusedError
			if !errors.As(o.Err, &refused) || refused.Refusals[0].Code != NotEmpty {
				t.Errorf("%s, want a refusal", says(o))
			}
			for _, r := range proxy.Requests() {
				if r.Method == http.MethodPut {
					t.Errorf("it was finalized")
				}
			}
		})
	}
}

// TestWhatCannotBeListedIsNotEmpty_P20: a type that is forbidden or flaps (upstream's
// TestDeleteEncounters404), and discovery of a group that fails. With --force it is finalized all
// the same.
func TestWhatCannotBeListedIsNotEmpty_P20(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.terminating()
	forbidden := faultproxy.Status(403, metav1.StatusReasonForbidden, "you may not")
	for name, fault := range map[string]struct {
		on    func(*http.Request) bool
		fault faultproxy.Fault
		fails bool // nothing at all is known
	}{
		"forbidden":   {listOf("secrets"), forbidden, false},
		"404":         {listOf("secrets"), faultproxy.Times(1, faultproxy.Plain(404, "404 page not found")), false},
		"definitions": {listOf("customresourcedefinitions"), forbidden, false},
		"discovery":   {listOf("api"), faultproxy.Plain(404, "404 page not found"), true},
	} {
		t.Run(name, func(t *testing.T) {
			proxy := faultproxy.Start(t, f.c.Config())
			client := connect(t, proxy.Config())
			proxy.On(fault.on, fault.fault)
			target := Target{Type: cluster.NamespaceType, Name: f.namespace}
			candidates, errs := quick(client).Candidates(t.Context(), []Target{target},
				func(*unstructured.Unstructured) []string { return []string{"kubernetes"} })
			if failed := errs[0] != nil; failed != fault.fails || failed {
				if failed != fault.fails {
					t.Errorf("error %v, want one: %t", errs[0], fault.fails)
				}
				return
			}
			if got := codes(candidates[0], Overrides{}); !slices.Equal(got, []Code{NotProvenEmpty}) {
				t.Errorf("refusals %v, want NotProvenEmpty", got)
			}
			if got := codes(candidates[0], Overrides{Force: true}); got != nil {
				t.Errorf("refusals %v with --force", got)
			}
		})
	}
}

// TestForceLeavesBehindWhatItNames_P20.
func TestForceLeavesBehindWhatItNames_P20(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.make(configMapType, "stranded")
	f.terminating()
	c := f.judgeNamespace(f.client)
	if left := c.Stranded().Remaining; len(left) != 1 || left[0].Name != "stranded" {
		t.Errorf("left %v", left)
	}
	want(t, f.performOn(f.client, Overrides{Force: true}, Options{}, c)[0],
		"finalizeNamespace "+f.namespace+" kubernetes; gone")
	f.c.Kubectl(t, "create", "namespace", f.namespace) // where it resurfaces
	if f.get(configMapType, "stranded") == nil {
		t.Error("it did not resurface")
	}
}

// TestListableIsMoreThanDeletable: what nobody could delete is content, too.
func TestListableIsMoreThanDeletable(t *testing.T) {
	r := cluster.Resource{Type: graph.Type{Resource: "things", Namespaced: true}, Verbs: []string{"get", "list"}}
	if r.Deletable() || !listable(r) {
		t.Errorf("deletable %t, listable %t", r.Deletable(), listable(r))
	}
}

// TestHalfDeletedNamespaceIsDeletedAgain_NS005: its spec.finalizers were emptied before it was
// deleted, and nothing ends it but another write (RO-063). With content it is refused.
func TestHalfDeletedNamespaceIsDeletedAgain_NS005(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.make(configMapType, "phantom")
	live := f.get(cluster.NamespaceType, f.namespace)
	if _, err := f.client.Finalize(t.Context(), live, nil, cluster.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.terminating()
	if o := f.get(cluster.NamespaceType, f.namespace); o == nil || !halfDeleted(o) {
		t.Fatalf("it is not half deleted: %v", o)
	}
	half := func() *Candidate { return f.judgeBy(quick(f.client), cluster.NamespaceType, nil, f.namespace)[0] }
	if got := codes(half(), Overrides{}); !slices.Equal(got, []Code{NotEmpty}) {
		t.Errorf("refusals %v, want NotEmpty", got)
	}
	f.free(configMapType, "phantom")
	c := half()
	if len(c.Assessments) != 1 || c.Assessments[0].Method != ByDelete {
		t.Fatalf("%+v, want another delete", c.Assessments)
	}
	want(t, f.perform(f.client, Options{}, c)[0], "delete "+f.namespace+" ; gone")
	f.is(cluster.NamespaceType, f.namespace)
}
