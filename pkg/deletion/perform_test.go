package deletion_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// planned plans the deletion of the config map owner, which has a dependent.
func planned(t *testing.T) (*testcluster.Cluster, string, *deletion.Planned) {
	t.Helper()
	c := testcluster.Shared(t)
	namespace := c.Namespace(t)
	ownerAndDependent(t, c, namespace)
	config, client, catalog := fixture.ConnectFlags(t, c.Kubeconfig())
	p, err := deletion.Plan(t.Context(), client, catalog, config, deletion.Request{
		Selection: selection.Request{Namespace: namespace, Args: []string{"configmap/owner"}}, Policy: plan.Background,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, namespace, p
}

// TestNothingIsWrittenWithoutAgreement: neither a delete is sent nor an archive written.
func TestNothingIsWrittenWithoutAgreement(t *testing.T) {
	t.Parallel()
	c, namespace, p := planned(t)
	file := filepath.Join(t.TempDir(), "archive.yaml")
	result, err := deletion.Perform(t.Context(), p, deletion.Options{
		Agree:   func(context.Context, *deletion.Planned, *deletion.Change) error { return answer.ErrCancelled },
		Archive: &deletion.Archive{File: file, Head: func(*deletion.Planned) *v1alpha1.Plan { return &v1alpha1.Plan{} }},
		OnStart: func() { t.Error("it was started") },
	})
	if result != nil || !errors.Is(err, answer.ErrCancelled) {
		t.Errorf("%+v, %v", result, err)
	}
	if err := archive.Check(file); err != nil {
		t.Errorf("there is an archive: %v", err)
	}
	if left := c.Kubectl(t, "get", "configmap/owner", "-n", namespace, "-o",
		"jsonpath={.metadata.deletionTimestamp}"); left != "" {
		t.Errorf("it is being deleted since %s", left)
	}
}

// TestAPlanThatGrewIsRefusedWithoutAgree: without a callback nobody has agreed to what came up
// since the plan was made.
func TestAPlanThatGrewIsRefusedWithoutAgree(t *testing.T) {
	t.Parallel()
	c, namespace, p := planned(t)
	c.Kubectl(t, "patch", "configmap/owner", "-n", namespace, "--type=merge", "-p",
		`{"metadata":{"finalizers":["example.com/cleanup"]}}`)
	t.Cleanup(func() {
		c.Kubectl(t, "patch", "configmap/owner", "-n", namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	})
	result, err := deletion.Perform(t.Context(), p, deletion.Options{})
	if result == nil || len(result.Done) != 0 || !answer.IsRefusal(err) {
		t.Errorf("%+v, %v", result, err)
	}
	if left := c.Kubectl(t, "get", "configmap/owner", "-n", namespace, "-o",
		"jsonpath={.metadata.deletionTimestamp}"); left != "" {
		t.Errorf("it is being deleted since %s", left)
	}
}
