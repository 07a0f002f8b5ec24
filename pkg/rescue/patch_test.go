package rescue

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// with is an object with references to these uids; a "!" behind one makes it the controller.
func with(uids ...string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetUID("me")
	o.SetResourceVersion("7")
	var list []metav1.OwnerReference
	for _, uid := range uids {
		list = append(list, reference(uid, 0).OwnerReference)
	}
	if len(list) > 0 {
		o.SetOwnerReferences(list)
	}
	return o
}

func reference(uid string, index int) Reference {
	name, controller := strings.CutSuffix(uid, "!")
	r := Reference{metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: types.UID(name)}, index}
	if controller {
		r.Controller = &controller
	}
	return r
}

// says words the steps of a patch.
func says(t *testing.T, steps []cluster.PatchStep) []string {
	t.Helper()
	var all []string
	for _, s := range steps {
		value := ""
		switch v := s.Value.(type) {
		case metav1.OwnerReference:
			value = " " + string(v.UID)
		case []any:
			value = fmt.Sprintf(" [%s]", v[0].(metav1.OwnerReference).UID)
		case string:
			value = " " + v
		}
		all = append(all, s.Op+" "+strings.TrimPrefix(s.Path, "/metadata/ownerReferences")+value)
	}
	return all
}

func TestRemovalTakesTheLastReferenceFirst(t *testing.T) {
	t.Parallel()
	got := says(t, removal(with("old", "other", "old"), "old"))
	if want := []string{"test /2/uid old", "remove /2", "test /0/uid old", "remove /0"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if steps := removal(with("other"), "old"); len(steps) > 0 {
		t.Errorf("without a reference: %v", steps)
	}
}

func TestAdoptionPutsReferencesWhereTheyWere(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		now        *unstructured.Unstructured
		references []Reference
		want       []string
		why        string
	}{
		{"the only one", with(), []Reference{reference("old", 0)}, []string{"add  [new]"}, ""},
		{"between others", with("a", "b"), []Reference{reference("old", 1)}, []string{"add /1 new"}, ""},
		{"the list is shorter by now", with("a"), []Reference{reference("old", 3)}, []string{"add /1 new"}, ""},
		{"twice", with(), []Reference{reference("old", 0), reference("old", 2)}, []string{"add  [new]", "add /1 new"}, ""},
		{"the old one is still there", with("a", "old"), []Reference{reference("old", 1)},
			[]string{"test /1/uid old", "add /1/uid new"}, ""},
		{"it is there", with("new"), []Reference{reference("old", 0)}, nil, ""},
		{"another controller", with("b!"), []Reference{reference("old!", 0)}, nil,
			"it has another controller by now: ConfigMap/b"},
		{"another controller beside a reference of none", with("b!"), []Reference{reference("old", 0)},
			[]string{"add /0 new"}, ""},
	} {
		steps, why := adoption(test.now, test.references, "old", "new")
		if got := says(t, steps); !slices.Equal(got, test.want) || why != test.why {
			t.Errorf("%s: %q, %q; want %q, %q", test.name, got, why, test.want, test.why)
		}
	}
}

func TestAReferenceIsSentAsItWas(t *testing.T) {
	t.Parallel()
	no := false
	r := reference("old!", 0)
	r.BlockOwnerDeletion = &no
	steps, _ := adoption(with("a"), []Reference{r}, "old", "new")
	raw, err := json.Marshal(steps[len(steps)-1].Value)
	if want := `{"apiVersion":"v1","kind":"ConfigMap","name":"old","uid":"new","controller":true,"blockOwnerDeletion":false}`; err != nil || string(raw) != want {
		t.Errorf("%s, %v; want %s", raw, err, want)
	}
}

func TestLaterArchivesAreNumbered(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{1: "a/orders.yaml", 2: "a/orders.2.yaml"} {
		if got := numbered("a/orders.yaml", n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
