package finalizers

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestWhetherAStatefulSetMakesAPod: while all that are there are being deleted, one that is Parallel
// makes those that are missing, and another those before the first that is there; none does that is
// being deleted itself.
func TestWhetherAStatefulSetMakesAPod(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		spec  string
		there []string
		want  bool
	}{
		{`{replicas: 3}`, []string{"db-0"}, false},
		{`{replicas: 3}`, []string{"db-1", "db-2"}, true},
		{`{replicas: 3, podManagementPolicy: Parallel}`, []string{"db-0"}, true},
		{`{replicas: 2, podManagementPolicy: Parallel}`, []string{"db-0", "db-1"}, false},
		{`{replicas: 2, podManagementPolicy: Parallel}`, []string{"db-0", "db-2"}, true},
		{`{replicas: 1, ordinals: {start: 4}}`, []string{"db-4"}, false},
		{`{}`, []string{"db-0"}, false},
	} {
		set := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte("{metadata: {name: db}, spec: "+test.spec+"}"), &set.Object); err != nil {
			t.Fatal(err)
		}
		for _, field := range [][]string{{"spec", "replicas"}, {"spec", "ordinals", "start"}} { // as a server's answer is read
			if n, found, _ := unstructured.NestedFieldNoCopy(set.Object, field...); found {
				whole, _ := n.(float64)
				if err := unstructured.SetNestedField(set.Object, int64(whole), field...); err != nil {
					t.Fatal(err)
				}
			}
		}
		goes := set.DeepCopy()
		goes.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)})
		there := map[string]bool{}
		for _, name := range test.there {
			there[name] = true
		}
		if got := makesOne(set, there); got != test.want {
			t.Errorf("%s with %v: %t", test.spec, test.there, got)
		}
		if makesOne(goes, there) {
			t.Errorf("%s with %v makes one, and is being deleted", test.spec, test.there)
		}
	}
}
