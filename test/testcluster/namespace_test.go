package testcluster

import (
	"regexp"
	"strings"
	"testing"
)

func TestNamespaceName(t *testing.T) {
	valid := regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	for test, prefix := range map[string]string{
		"TestTree/owners, upwards#01": "testtree-owners-upwards-01-",
		"Test_Ä":                      "test-",
		"":                            "",
		strings.Repeat("Test/", 40):   "test-test-",
	} {
		a, b := namespaceName(test), namespaceName(test)
		if !valid.MatchString(a) || !strings.HasPrefix(a, prefix) {
			t.Errorf("%q gives %q", test, a)
		}
		if a == b {
			t.Errorf("%q gives %q twice", test, a)
		}
	}
}

func TestNamespaceEndsWithItsTest(t *testing.T) {
	c := Shared(t)
	var name string
	t.Run("inner", func(t *testing.T) {
		name = c.Namespace(t)
		c.Kubectl(t, "create", "configmap", "content", "-n", name)
	})
	Eventually(t, "the namespace is gone", gone(c, "namespace/"+name))
}
