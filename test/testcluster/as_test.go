package testcluster

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// Someone else may do what was granted, and the administrator's config stays the administrator's.
func TestAs(t *testing.T) {
	c := Shared(t)
	ns := c.Namespace(t)
	c.Kubectl(t, "create", "rolebinding", "viewers", "--clusterrole=view", "--group=guests", "-n", ns)
	for _, test := range []struct {
		resource  string
		forbidden bool
	}{{"configmaps", false}, {"secrets", true}} {
		client, err := dynamic.NewForConfig(c.As("alice", "guests"))
		if err != nil {
			t.Fatal(err)
		}
		list := func() error {
			_, err := client.Resource(schema.GroupVersionResource{Version: "v1",
				Resource: test.resource}).Namespace(ns).List(t.Context(), metav1.ListOptions{})
			return err
		}
		// RBAC learns of a binding, and the role of its rules, a moment after they were written.
		Eventually(t, "alice is answered for "+test.resource, func(context.Context) (bool, error) {
			err := list()
			if err != nil && !apierrors.IsForbidden(err) {
				return false, err
			}
			return (err != nil) == test.forbidden, nil
		})
	}
	if user := c.Config().Impersonate.UserName; user != "" {
		t.Errorf("the administrator's config impersonates %s", user)
	}

	whoami := c.Command(t.Context(), "auth", "whoami", "--kubeconfig", c.KubeconfigAs(t, "alice", "guests"), "-o",
		"jsonpath={.status.userInfo.username} {.status.userInfo.groups}")
	out, err := whoami.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "alice ") || !strings.Contains(string(out), "guests") {
		t.Errorf("kubectl auth whoami: %v, %s", err, out)
	}
}
