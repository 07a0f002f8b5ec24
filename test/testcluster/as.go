package testcluster

import (
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// As gives a configuration of client-go for someone else, who may do what RBAC grants to that name
// and those groups: at first next to nothing.
func (c *Cluster) As(user string, groups ...string) *rest.Config {
	config := c.Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	return config
}

// KubeconfigAs writes a kubeconfig for someone else and gives its path; it is removed with the
// test.
func (c *Cluster) KubeconfigAs(t testing.TB, user string, groups ...string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(c.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range config.AuthInfos {
		info.Impersonate, info.ImpersonateGroups = user, groups
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}
