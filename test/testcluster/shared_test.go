package testcluster

import "testing"

func TestAnotherIsSharedByName(t *testing.T) {
	c := Another(t, "other", NoControllers())
	if c == Shared(t) || c.Config().Host == Shared(t).Config().Host {
		t.Error("another control plane is the one that all tests share")
	}
	if again := Another(t, "other"); again != c {
		t.Error("the same name gives yet another control plane")
	}
}
