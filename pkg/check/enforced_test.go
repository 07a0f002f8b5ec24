package check_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestNothingIsFixedIfTheServerAsksForMore_API037: servers with the plugin take a change of
// references only from who may delete the object. That is found out before any reference is
// removed; elsewhere the right is not needed.
func TestNothingIsFixedIfTheServerAsksForMore_API037(t *testing.T) {
	t.Parallel()
	plugin := testcluster.APIServerArgs("--enable-admission-plugins=OwnerReferencesPermissionEnforcement")
	for name, test := range map[string]struct {
		c       *testcluster.Cluster
		refused bool
	}{
		"with the plugin":    {testcluster.Start(t, testcluster.NoControllers(), plugin), true},
		"without the plugin": {testcluster.Shared(t), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &live{fixture.NewConfigMaps(t, test.c, test.c.As("mary")), t}
			l.Allow(test.c, "mary", "patch,get,list")
			l.Make("child", nobody, "owner="+l.Make("owner"))
			p, err := l.tryToPlan("child")
			if answer.IsRefusal(err) != test.refused || err != nil &&
				!strings.Contains(err.Error(), `nothing was removed: you may not delete configmap "child"`) {
				t.Fatalf("%v", err)
			}
			for _, r := range l.Proxy.Requests() {
				if r.Method == http.MethodPatch && !r.Query.Has("dryRun") {
					t.Errorf("it has sent %s %s", r.Method, r.Path)
				}
			}
			if test.refused {
				return
			}
			if all := p.Perform(t.Context(), nil); len(all) != 1 || !all[0].Done || all[0].Err != nil {
				t.Errorf("%+v", all)
			}
		})
	}
}
