package collect_test

import (
	"context"
	"sync"
	"testing"

	"k8s.io/client-go/dynamic"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// The scenarios are upstream's own tests of the collector, each a test with upstream's name and the
// key that it has in docs/gc-semantics.md: U for its unit tests, I for its integration tests, E for
// its e2e tests. Each is played twice: as "loop" on a control plane without a collector, where the
// loop is run, and as "collector" on one with the real collector, which proves the scenario itself.
// Where a client does otherwise on purpose (the X keys), what the loop does stands beside what the
// collector does.
//
// Not here are the tests of the collector's own machinery: U01, U05, U06 and U08 (its monitors and
// its graph, whose part package graph has; no result depends on the order of lists, see after), U09
// and U10 (a benchmark, and races, for which all tests run with the detector), U37 to U51 (other
// identities of an absent owner: what is known of absence is kept by everything that a reference
// says, so that there is one for each), and U52 to U62 (its graph drawn, which is for package
// render). Those of the API server (A01 to A13) are about what the loop is built on and not about
// the loop. What a healthy server never does is played by a proxy before the loop; the collector
// then plays the same without, if that comes to the same end.

// collector does the collector's part on a stage: the loop, or the real one.
type collector interface {
	// observe waits until it knows of all there is.
	observe(s *stage)
	// settle has it collect until it has nothing left to do; then all expectations hold.
	settle(s *stage, want []expectation)
}

// replay plays a scenario with the loop and with the collector.
func replay(t *testing.T, play func(s *stage)) {
	t.Helper()
	t.Parallel()
	t.Run("loop", func(t *testing.T) {
		s := onLoop(t)
		play(s)
		s.loop().rests(s)
	})
	t.Run("collector", func(t *testing.T) {
		t.Parallel()
		play(newStage(t, withCollector(t), &theirs{}))
	})
}

// replayLoop plays a scenario that takes a server which answers wrongly, of which the collector
// cannot be told.
func replayLoop(t *testing.T, play func(s *stage, l *ours)) {
	t.Helper()
	t.Parallel()
	s := onLoop(t)
	play(s, s.loop())
	s.loop().rests(s)
}

// onLoop gives a stage on a control plane of the scenarios: their types come while other tests
// watch, who look at everything then.
func onLoop(t *testing.T) *stage {
	c := testcluster.Another(t, "scenarios", testcluster.NoControllers())
	prepare(t, "loop", c)
	return newStage(t, c, &ours{config: c.Config()})
}

// withCollector gives the control plane on which the real collector runs. It reads the types when
// it starts, and then every 30 s.
func withCollector(t *testing.T) *testcluster.Cluster {
	c := testcluster.Another(t, "collector", testcluster.NoControllers())
	if prepare(t, "collector", c) {
		c.StartControllers(t, testcluster.Collector)
	}
	return c
}

// prepared are the control planes that have the scenarios' types.
var prepared struct {
	sync.Mutex
	planes map[string]bool
}

// prepare makes the scenarios' types on a control plane, and reports whether it has been the first
// to.
func prepare(t *testing.T, plane string, c *testcluster.Cluster) bool {
	prepared.Lock()
	defer prepared.Unlock()
	if prepared.planes[plane] {
		return false
	}
	c.Apply(t, definitions)
	if prepared.planes == nil {
		prepared.planes = map[string]bool{}
	}
	prepared.planes[plane] = true
	return true
}

// CRDs are of a namespaced type that two versions serve, and of a cluster-scoped one.
const definitions = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.scenario.example.com}
spec:
  group: scenario.example.com
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clustergadgets.scenario.example.com}
spec:
  group: scenario.example.com
  scope: Cluster
  names: {plural: clustergadgets, singular: clustergadget, kind: ClusterGadget}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

// expectation says what is not as expected, nothing if all is.
type expectation func(ctx context.Context) (string, error)

// stage is a namespace on a control plane in which a scenario is played.
type stage struct {
	*testing.T
	cluster   *testcluster.Cluster
	collector collector
	api       dynamic.Interface
	ns        string

	mu      sync.Mutex
	kinds   []string // of which there are objects
	unknown bool     // whether the collector may not have heard of all of them
}

func newStage(t *testing.T, c *testcluster.Cluster, who collector) *stage {
	t.Helper()
	api, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	return &stage{T: t, cluster: c, collector: who, api: api, ns: c.Namespace(t)}
}

// loop returns the loop of this stage; nil if the real collector plays.
func (s *stage) loop() *ours {
	l, _ := s.collector.(*ours)
	return l
}

// collect has the collector collect; then all expectations hold.
func (s *stage) collect(want ...expectation) {
	s.Helper()
	s.collector.settle(s, want)
}

// unmet returns what of the expectations does not hold.
func unmet(ctx context.Context, want []expectation) (string, error) {
	for _, holds := range want {
		if wrong, err := holds(ctx); wrong != "" || err != nil {
			return wrong, err
		}
	}
	return "", nil
}
