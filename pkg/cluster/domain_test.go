package cluster

import "testing"

// TestWhichGroupsAreOfOneDomain: those whose names end with the same domain, but for those of Kubernetes.
func TestWhichGroupsAreOfOneDomain(t *testing.T) {
	t.Parallel()
	for of, want := range map[[2]string]bool{
		{"a.example.com", "a.example.com"}: true, {"a.example.com", "b.example.com"}: true,
		{"a.example.com", "example.com"}: true, {"example.com", "a.example.com"}: true,
		{"a.com", "b.com"}: false, {"", "a.com"}: false, {"batch", "batch.example.com"}: false,
		{"rbac.authorization.k8s.io", "apps.k8s.io"}: false, {"a.example.com", "a.example.org"}: false,
	} {
		if got := OfOneDomain(of[0], of[1]); got != want {
			t.Errorf("%v: %v, want %v", of, got, want)
		}
	}
}
