package restore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
)

// randomGraph are objects and references between them, cycles among them.
func randomGraph(rng *rand.Rand) (names []string, edges []edge) {
	n := 1 + rng.IntN(9)
	for i := range n {
		names = append(names, fmt.Sprintf("o%d", i))
	}
	for _, dependent := range names {
		controlled := false
		for _, owner := range names {
			if owner == dependent || rng.IntN(3) > 0 {
				continue
			}
			e := edge{dependent, owner, !controlled && rng.IntN(3) == 0, rng.IntN(2) == 0}
			controlled = controlled || e.controller
			edges = append(edges, e)
		}
	}
	return names, edges
}

// TestARestoredGraphIsAsItWas over random graphs, of which a random part was deleted: objects,
// owners and flags, whatever the order and the cycles.
func TestARestoredGraphIsAsItWas(t *testing.T) {
	t.Parallel()
	for seed := range uint64(25) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 1))
			w := newWorld(t)
			names, edges := randomGraph(rng)
			w.make(names, edges)
			want := w.shape()
			file := w.save()
			rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			deleted := names[:1+rng.IntN(len(names))]
			w.delete(deleted...)
			if seed%2 == 0 { // as the policy Orphan, or a collector that keeps them for another owner
				w.takeOff(deleted)
			} else {
				w.delete(w.absentOwners()...)
			}
			w.restore(file, Options{})
			if diff := cmp.Diff(want, w.shape()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if p, _ := w.plan(file, Options{}); len(p.Steps)+len(p.Held) > 0 {
				t.Errorf("a second restore has something to do: %+v %+v", p.Steps, p.Held)
			}
		})
	}
}

// takeOff removes the references to deleted objects.
func (w *world) takeOff(deleted []string) {
	maps := w.client.CoreV1().ConfigMaps(w.namespace)
	all, err := maps.List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, o := range all.Items {
		o.OwnerReferences = slices.DeleteFunc(o.OwnerReferences,
			func(r metav1.OwnerReference) bool { return slices.Contains(deleted, r.Name) })
		if _, err := maps.Update(w.t.Context(), &o, metav1.UpdateOptions{}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// absentOwners are the objects that refer to one that does not exist.
func (w *world) absentOwners() []string {
	var names []string
	for _, line := range w.shape() {
		if name, _, _ := strings.Cut(line, " "); strings.Contains(line, "< absent") && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// TestRestoreGoesOnWhereItWasCutOff after any number of writes, whether the answer to the last has
// come or not.
func TestRestoreGoesOnWhereItWasCutOff(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "c", "d", "e"}
	edges := []edge{{"b", "a", true, true}, {"c", "b", false, false}, {"c", "d", false, true}, {"d", "c", false, false},
		{"e", "a", false, false}}
	for _, lost := range []bool{false, true} {
		for n := range 7 {
			t.Run(fmt.Sprintf("after %d writes, answer lost %t", n, lost), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.make(names, edges)
				want := w.shape()
				file := w.save()
				w.delete("a", "b", "c", "d")
				w.takeOff([]string{"a"}) // e stays
				cutOff := *w
				cutOff.config = rest.CopyConfig(w.config)
				cutOff.config.Wrap(func(next http.RoundTripper) http.RoundTripper {
					return &cut{next: next, after: int64(n), lost: lost}
				})
				p, client := cutOff.plan(file, Options{})
				if r, err := p.Perform(t.Context(), client, PerformOptions{}); err == nil && len(r.Failed) == 0 && n < 6 {
					t.Fatalf("it was not cut off: %+v", r)
				}
				w.restore(file, Options{})
				if diff := cmp.Diff(want, w.shape()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// cut answers nothing any more after some writes; that to the last is lost, too, if it is told so.
// Reviews are questions and no writes.
type cut struct {
	next  http.RoundTripper
	after int64
	lost  bool
	sent  atomic.Int64
}

var errCut = errors.New("cut off by the test")

// RoundTrip implements http.RoundTripper.
func (c *cut) RoundTrip(r *http.Request) (*http.Response, error) {
	isWrite := r.Method != http.MethodGet && !strings.Contains(r.URL.Path, "accessreviews")
	n := c.sent.Load()
	if isWrite {
		n = c.sent.Add(1)
	}
	if n > c.after || n == c.after && !isWrite && c.after > 0 {
		return nil, errCut
	}
	answer, err := c.next.RoundTrip(r)
	if err == nil && isWrite && c.lost && n == c.after {
		answer.Body.Close()
		return nil, errCut
	}
	return answer, err
}

// TestAnotherObjectOfTheNameIsLeftAlone, unless it is to be overwritten; what belongs to it comes
// back without it then, or not at all if it needs its owners.
func TestAnotherObjectOfTheNameIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.make([]string{"owner", "child"}, []edge{{"child", "owner", false, false}})
	want := w.shape()
	file := w.save()
	w.delete("owner", "child")
	w.make([]string{"owner"}, nil)

	p, _ := w.plan(file, Options{RequireOwners: true})
	if len(p.Steps) != 0 || len(p.Held) != 1 || p.Held[0].Reason != OwnerMissing || len(p.Left) != 1 ||
		p.Left[0].Reason != NameTaken {
		t.Errorf("with required owners: %+v", p)
	}
	w.restore(file, Options{})
	if got := w.shape(); !slices.Equal(got, []string{"child map[name:child]", "owner map[name:owner]"}) {
		t.Errorf("%q", got)
	}
	w.delete("child")
	w.restore(file, Options{Overwrite: true})
	if diff := cmp.Diff(want, w.shape()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNothingIsWrittenFromABrokenArchive or from one of another cluster.
func TestNothingIsWrittenFromABrokenArchive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.make([]string{"a", "b"}, nil)
	file := w.save()
	w.delete("a", "b")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	client, catalog := fixture.Connect(t, w.config)
	for name, text := range map[string]string{
		"cut off":         string(whole[:len(whole)-40]),
		"a path":          strings.ReplaceAll(string(whole), "name: b\n", "name: ../b\n"),
		"twice":           string(whole) + "---\n" + strings.SplitN(string(whole), "\n---\n", 3)[1],
		"another cluster": strings.Replace(string(whole), "cluster: ", "cluster: x", 1),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := New(t.Context(), client, catalog, file, Options{})
		if err == nil || (name == "another cluster") != answer.IsRefusal(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := w.shape(); len(got) > 0 {
		t.Errorf("there is %q", got)
	}
}
