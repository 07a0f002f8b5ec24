package collect

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestARunLeavesAloneWhatItsArchiveDoesNotHave: what comes up after the archive was written, and
// what was changed since, other than by the run itself.
func TestARunLeavesAloneWhatItsArchiveDoesNotHave(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.make("a < nobody", "b < nobody", "c < nobody")
	client, err := cluster.New(c.Config(), cluster.DefaultConcurrency)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "archive.yaml")
	head := func(*Proposal) *v1alpha1.Plan { return &v1alpha1.Plan{TypeMeta: v1alpha1.TypeMeta("Plan")} }
	var saved *archive.Saved
	request := Request{Namespace: s.namespace, Archive: &Archive{File: file, Head: head, OnSaved: func(a *archive.Saved) {
		saved = a
		s.make("late < nobody")
		c.Kubectl(t, "label", "configmap", "b", "-n", s.namespace, "now=yes")
	}}}
	out, err := Run(t.Context(), client, request)
	if saved == nil || saved.Objects != 3 || out == nil {
		t.Fatalf("%+v, %+v, %v", saved, out, err)
	}
	if !errors.Is(err, archive.ErrChanged) || !answer.IsRefusal(err) || answer.Hint(err) != hintArchive ||
		!strings.Contains(err.Error(), "ConfigMap "+s.namespace+"/late") {
		t.Errorf("%v, want that b was changed and late is not in the archive", err)
	}
	if left := s.left(); len(left) != 2 ||
		!slices.ContainsFunc(left, func(s string) bool { return strings.HasPrefix(s, "b ") }) ||
		!slices.Contains(left, "late < nobody") {
		t.Errorf("left %q", left)
	}
	if summary, err := archive.Verify(file); err != nil || len(summary.Objects) != 3 || summary.Damage != nil {
		t.Errorf("%+v, %v", summary, err)
	}
}

// TestARunDeletesWhatItHasChangedItself: that a reference was removed from an object since it was
// archived is the run's own doing.
func TestARunDeletesWhatItHasChangedItself(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	client, err := cluster.New(c.Config(), cluster.DefaultConcurrency)
	if err != nil {
		t.Fatal(err)
	}
	s.make("parent", "child < nobody")
	s.refer("child", s.as("ConfigMap", "other", "parent"))
	c.Kubectl(t, "delete", "configmap", "parent", "-n", s.namespace, "--cascade=orphan", "--wait=false")
	out, err := Run(t.Context(), client, Request{Namespace: s.namespace, Archive: &Archive{
		File: filepath.Join(t.TempDir(), "archive.yaml"),
		Head: func(*Proposal) *v1alpha1.Plan { return &v1alpha1.Plan{TypeMeta: v1alpha1.TypeMeta("Plan")} },
	}})
	if err != nil || out == nil || len(s.left()) != 0 {
		t.Errorf("%+v, %v, left %q", out, err, s.left())
	}
}
