package ownership

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestWhatAnAccountMayDoIsAskedForTypes: two questions for all objects of a type that an account
// may delete, and one for each that it may not, up to a bound; what was not answered is unknown.
func TestWhatAnAccountMayDoIsAskedForTypes(t *testing.T) {
	t.Parallel()
	kind := graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	const ends = 600
	b := graph.NewBuilder()
	b.Serve(kind)
	listing := b.Listing(kind, "")
	for i := range ends {
		name := fmt.Sprintf("c%03d", i)
		listing.Add(graph.Object{Namespace: "ns", Name: name, UID: name, ResourceVersion: "1"})
	}
	listing.Complete()
	g := b.Build()
	for name, test := range map[string]struct {
		ask                    func(cluster.Access) (cluster.Review, error)
		asked, refused, unsure int
	}{
		"it may": {asked: 2, ask: func(cluster.Access) (cluster.Review, error) {
			return cluster.Review{Permission: cluster.Allowed}, nil
		}},
		"not by any rule": {asked: 500, refused: 498, unsure: 102, ask: func(a cluster.Access) (cluster.Review, error) {
			if a.Verb == "get" {
				return cluster.Review{Permission: cluster.Allowed}, nil
			}
			return cluster.Review{Permission: cluster.Denied}, nil
		}},
		"by name": {asked: 500, unsure: 102, ask: func(a cluster.Access) (cluster.Review, error) {
			if a.Verb == "delete" && a.Name == "" {
				return cluster.Review{Permission: cluster.Denied}, nil
			}
			return cluster.Review{Permission: cluster.Allowed}, nil
		}},
		"nobody says": {asked: 1, unsure: ends, ask: func(cluster.Access) (cluster.Review, error) {
			return cluster.Review{Reason: "no opinion"}, nil
		}},
		"forbidden": {asked: 1, unsure: ends, ask: func(cluster.Access) (cluster.Review, error) {
			return cluster.Review{}, errors.New("you may not ask")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, refused, unsure := 0, 0, 0
			r := reviewer{asked: &atomic.Int64{}, known: map[cluster.Access]cluster.Review{},
				ask: func(a cluster.Access) (cluster.Review, error) {
					asked++
					return test.ask(a)
				}}
			for id := range g.Len() {
				no, unknown := r.permitted(g, graph.ID(id), "it ")
				if strings.Contains(no, "may not delete configmaps") {
					refused++
				}
				if unknown != "" {
					unsure++
				}
			}
			if asked != test.asked || refused != test.refused || unsure != test.unsure {
				t.Errorf("asked %d times, refused %d, unsure %d, want %d, %d, %d", asked, refused, unsure, test.asked,
					test.refused, test.unsure)
			}
		})
	}
}

// TestWhatWasAnsweredStaysKnown: that the server does not answer later takes nothing of it back, and
// what was not answered is not taken for an answer.
func TestWhatWasAnsweredStaysKnown(t *testing.T) {
	t.Parallel()
	failed := errors.New("timed out")
	r := reviewer{asked: &atomic.Int64{}, known: map[cluster.Access]cluster.Review{},
		ask: func(a cluster.Access) (cluster.Review, error) {
			if a.Verb == "delete" {
				return cluster.Review{}, failed
			}
			return cluster.Review{Permission: cluster.Denied}, nil
		}}
	for range 2 {
		if review, err := r.may(cluster.Access{Verb: "get"}); err != nil || review.Permission != cluster.Denied {
			t.Errorf("%v, %v", review, err)
		}
		if _, err := r.may(cluster.Access{Verb: "delete"}); !errors.Is(err, failed) {
			t.Errorf("no error, but %v", err)
		}
	}
}
