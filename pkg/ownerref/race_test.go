package ownerref_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownerref"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m, testcluster.NoControllers()) }

// race is a namespace of ConfigMaps behind a proxy.
type race struct {
	*fixture.ConfigMaps
	t *testing.T
}

func newRace(t *testing.T) *race {
	t.Helper()
	t.Parallel()
	return &race{fixture.NewConfigMaps(t, testcluster.Shared(t), nil), t}
}

func (f *race) adopt(child, owner string) *ownerref.Adoption {
	f.t.Helper()
	a, err := ownerref.PlanAdopt(f.t.Context(), f.Client, f.Catalog, f.Object(child), f.Object(owner), ownerref.Flags{})
	if err != nil {
		f.t.Fatal(err)
	}
	return a
}

func (f *race) disown(child string, which ownerref.Which) *ownerref.Disownment {
	f.t.Helper()
	d, err := ownerref.PlanDisown(f.t.Context(), f.Client, f.Catalog, f.Object(child), which)
	if err != nil {
		f.t.Fatal(err)
	}
	return d
}

// refused says that an error has to be a refusal with some words.
func refused(t *testing.T, err error, words string) {
	t.Helper()
	if !answer.IsRefusal(err) || !strings.Contains(err.Error(), words) {
		t.Errorf("error %v, want a refusal: %s", err, words)
	}
}

// TestAnOwnerThatIsDeletedWhileItIsSetIsRemovedAgain, since the collector would delete the object
// because of it.
func TestAnOwnerThatIsDeletedWhileItIsSetIsRemovedAgain(t *testing.T) {
	for _, before := range []bool{true, false} {
		t.Run(fmt.Sprint("before ", before), func(t *testing.T) {
			f := newRace(t)
			f.Make("owner")
			f.Make("child")
			a := f.adopt("child", "owner")
			meanwhile := f.After
			if before {
				meanwhile = f.Before
			}
			meanwhile(func() { f.Delete("owner") })
			refused(t, a.Perform(t.Context(), false),
				"the owner was deleted meanwhile; the reference was removed again")
			if got := f.Owners("child"); got != "" {
				t.Errorf("owners %s", got)
			}
		})
	}
}

// TestAnOwnerThatWasCreatedAgainIsNotAdoptedBy: the plan was about another object.
func TestAnOwnerThatWasCreatedAgainIsNotAdoptedBy(t *testing.T) {
	f := newRace(t)
	f.Make("owner")
	f.Make("child")
	a := f.adopt("child", "owner")
	f.Delete("owner")
	f.Make("owner")
	refused(t, a.Perform(t.Context(), false),
		"the owner was changed meanwhile: another object has its name now")
	if got := f.Owners("child"); got != "" {
		t.Errorf("owners %s", got)
	}
}

// TestAnObjectThatWasCreatedAgainIsLeftAlone, by both commands.
func TestAnObjectThatWasCreatedAgainIsLeftAlone(t *testing.T) {
	f := newRace(t)
	uid := f.Make("owner")
	f.Make("child", "owner="+uid)
	d := f.disown("child", ownerref.Which{})
	f.Delete("child")
	f.Make("child", "owner="+uid)
	if err := d.Perform(t.Context(), false); !errors.Is(err, change.ErrReplaced) {
		t.Errorf("error %v", err)
	}
	if got := f.Owners("child"); got != "owner" {
		t.Errorf("owners %s", got)
	}
}

// TestACycleThatComesUpBeforeTheWriteIsRefused.
func TestACycleThatComesUpBeforeTheWriteIsRefused(t *testing.T) {
	f := newRace(t)
	f.Make("owner")
	child := f.Make("child")
	a := f.adopt("child", "owner")
	f.Patch("owner", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"child","uid":"`+child+
		`"}]}}`)
	refused(t, a.Perform(t.Context(), false),
		"it owns that, and the collector would never delete the members of the cycle")
	if got := f.Owners("child"); got != "" {
		t.Errorf("owners %s", got)
	}
}

// TestWhatOthersChangeInTheReferencesMeanwhileStays: they stand elsewhere, and the change is made
// all the same.
func TestWhatOthersChangeInTheReferencesMeanwhileStays(t *testing.T) {
	f := newRace(t)
	owner, other, third := f.Make("owner"), f.Make("other"), f.Make("third")
	f.Make("child", "owner="+owner, "other="+other)
	d := f.disown("child", ownerref.Which{Kind: "configmap", Name: "other"})
	reference := func(name, uid string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":%q}`, name, uid)
	}
	f.Before(func() {
		f.Patch("child", `{"metadata":{"ownerReferences":[`+
			strings.Join([]string{reference("third", third), reference("other", other), reference("owner", owner)}, ",")+`]}}`)
	})
	if err := d.Perform(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if got := f.Owners("child"); got != "third owner" {
		t.Errorf("owners %s", got)
	}
}

// TestADisownmentThatHasBecomeDangerousIsRefused: nobody agreed to that the collector deletes the
// object.
func TestADisownmentThatHasBecomeDangerousIsRefused(t *testing.T) {
	f := newRace(t)
	owner, other := f.Make("owner"), f.Make("other")
	f.Make("child", "owner="+owner, "other="+other)
	d := f.disown("child", ownerref.Which{UID: owner})
	if d.Dangerous() {
		t.Fatal("dangerous while another owner is alive")
	}
	f.Delete("other")
	refused(t, d.Perform(t.Context(), false), "the garbage collector would delete it")
	if got := f.Owners("child"); got != "owner other" {
		t.Errorf("owners %s", got)
	}
}

// TestAReferenceThatAControllerSetsAgainIsReported, with the name of the controller.
func TestAReferenceThatAControllerSetsAgainIsReported(t *testing.T) {
	f := newRace(t)
	owner := f.Make("owner")
	f.Make("child", "owner="+owner)
	d := f.disown("child", ownerref.Which{})
	f.After(func() {
		f.Patch("child", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"`+owner+
			`"}]}}`)
	})
	refused(t, d.Perform(t.Context(), false),
		`the reference to its owner ConfigMap "owner" was put back once by "somebody"`)
}

// TestAReferenceThatAWebhookPutsBackWasNotRemoved.
func TestAReferenceThatAWebhookPutsBackWasNotRemoved(t *testing.T) {
	f := newRace(t)
	testcluster.Shared(t).PutBack(t, f.Namespace)
	owner := f.Make("owner")
	f.Make("child", "owner="+owner)
	err := f.disown("child", ownerref.Which{}).Perform(t.Context(), false)
	refused(t, err, "was put back in the same request")
}

// TestADryRunStoresNothing.
func TestADryRunStoresNothing(t *testing.T) {
	f := newRace(t)
	owner := f.Make("owner")
	f.Make("child", "owner="+owner)
	f.Make("other")
	for _, err := range []error{
		f.disown("child", ownerref.Which{}).Perform(t.Context(), true),
		f.adopt("child", "other").Perform(t.Context(), true),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	if got := f.Owners("child"); got != "owner" {
		t.Errorf("owners %s", got)
	}
}
