package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// benchStuck is how many objects BenchmarkWhy explains at once.
const benchStuck = 200

// BenchmarkWhy lists a namespace and explains what is stuck in it: one object, and 200 of three
// causes, which are an actor that lives, one that is scaled to 0, and one that nobody knows.
func BenchmarkWhy(b *testing.B) {
	c := testcluster.Shared(b)
	b.Run("one", func(b *testing.B) {
		ns := c.Namespace(b)
		known := threeCauses(b, c, ns, 1)
		for b.Loop() {
			examine(b, c.Config(), Options{Known: known}, ns, subject{"configmaps/o-000", ns})
		}
	})
	b.Run(fmt.Sprintf("%d-of-3-causes", benchStuck), func(b *testing.B) {
		ns := c.Namespace(b)
		known := threeCauses(b, c, ns, benchStuck)
		for b.Loop() {
			if d := examine(b, c.Config(), Options{Known: known}, ns); len(d.Stuck) != benchStuck {
				b.Fatalf("%d objects are stuck, want %d", len(d.Stuck), benchStuck)
			}
		}
	})
}

// threeCauses makes objects that are stuck for three causes in turn, and returns what is known of
// them.
func threeCauses(b *testing.B, c *testcluster.Cluster, namespace string, n int) *finalizer.Registry {
	b.Helper()
	c.Apply(b, fixture.Deployment(namespace, "operator", 0)+
		fixture.Lease(namespace, "leader", "me", time.Now().Add(time.Hour)))
	finalizers := []string{"nobody.example.net/x", "example.com/dead", "example.com/alive"}
	var manifest strings.Builder
	names := []string{"configmap", "-n", namespace}
	for i := range n {
		name := fmt.Sprintf("o-%03d", i)
		names = append(names, name)
		manifest.WriteString(fixture.ConfigMap(namespace, name, finalizers[i%3]))
		fixture.Free(b, c, namespace, "configmap/"+name)
	}
	c.Apply(b, manifest.String())
	deleted(b, c, names...)
	return fixture.Pack(b, finalizers[1], fmt.Sprintf("deployments: ['%s/operator']", namespace)).
		With(renamed(b, fixture.Pack(b, finalizers[2], fmt.Sprintf("leases: ['%s/leader']", namespace))))
}
