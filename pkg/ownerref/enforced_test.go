package ownerref_test

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownerref"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestWhatTheServerAsksForReferencesIsAskedBefore_API037: servers with the plugin ask for the right
// to delete the object for any change of its references, and for one that blocks for the right to
// update the owner's finalizers. Others ask for neither, and the change is made.
func TestWhatTheServerAsksForReferencesIsAskedBefore_API037(t *testing.T) {
	t.Parallel()
	const mayNotDelete = `you may not delete configmaps in namespace`
	plugin := testcluster.APIServerArgs("--enable-admission-plugins=OwnerReferencesPermissionEnforcement")
	enforcing := testcluster.Start(t, testcluster.NoControllers(), plugin)
	for name, test := range map[string]struct {
		c     *testcluster.Cluster
		verbs string
		// adopt, block and disown are what the commands are refused with; empty if they are not.
		adopt, block, disown string
	}{
		"without the plugin": {testcluster.Shared(t), "patch,get,list", "", "", ""},
		"with the plugin":    {enforcing, "patch,get,list", mayNotDelete, mayNotDelete, mayNotDelete},
		"with the plugin, if it may delete": {enforcing, "patch,get,list,delete", "",
			`you may not update configmaps/finalizers in namespace`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &race{fixture.NewConfigMaps(t, test.c, test.c.As("mary")), t}
			f.Allow(test.c, "mary", test.verbs)
			owner := f.Make("owner")
			f.Make("orphan")
			f.Make("child", "owner="+owner)
			_, err := ownerref.PlanAdopt(t.Context(), f.Client, f.Catalog, f.Object("orphan"), f.Object("owner"),
				ownerref.Flags{})
			f.refusedIf(err, test.adopt)
			yes := true
			a, err := ownerref.PlanAdopt(t.Context(), f.Client, f.Catalog, f.Object("orphan"), f.Object("owner"),
				ownerref.Flags{Block: &yes})
			f.refusedIf(err, test.block)
			if err == nil {
				if err := a.Perform(t.Context(), false); err != nil || len(a.Warnings) > 0 {
					t.Errorf("%v, warnings %q", err, a.Warnings)
				}
			} else if got := f.Owners("orphan"); got != "" {
				t.Errorf("it has the owners %s", got)
			}
			_, err = ownerref.PlanDisown(t.Context(), f.Client, f.Catalog, f.Object("child"), ownerref.Which{})
			f.refusedIf(err, test.disown)
		})
	}
}

// refusedIf says that an error has to be a refusal with some words, or none without words.
func (f *race) refusedIf(err error, words string) {
	f.t.Helper()
	if words == "" && err != nil || words != "" && (!answer.IsRefusal(err) || !strings.Contains(err.Error(), words)) {
		f.t.Errorf("%v, want %q", err, words)
	}
}
