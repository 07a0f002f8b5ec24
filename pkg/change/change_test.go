package change_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// faults calls a function with each sequence of so many faults.
func faults(n int, each func([]fault)) {
	sequence := make([]fault, n)
	var fill func(int)
	fill = func(i int) {
		if i == n {
			each(append([]fault(nil), sequence...))
			return
		}
		for f := range fault(faultCount) {
			sequence[i] = f
			fill(i + 1)
		}
	}
	fill(0)
}

// remove removes the reference to the owner that is gone.
func remove(s *server, opts cluster.PatchOptions) error {
	o := change.Object{Server: s, Type: configMaps, Ref: object}
	_, err := o.RemoveReferences(context.Background(), opts, func(now *graph.Object) ([]graph.OwnerReference, error) {
		s.decided = now.ResourceVersion
		return []graph.OwnerReference{gone}, nil
	})
	return err
}

// add adds a reference to it to an object that is known already.
func add(s *server) error {
	o := change.Object{Server: s, Type: configMaps, Ref: object}
	_, err := o.Patch(context.Background(), change.Patch{
		Seen: s.now,
		Decide: func(now *graph.Object) ([]cluster.PatchStep, error) {
			s.decided = now.ResourceVersion
			if change.HasOwner(now, gone.UID) {
				return nil, nil
			}
			return []cluster.PatchStep{change.AddReference(len(now.Owners), len(now.Owners), gone)}, nil
		},
		Verify: func(answered *graph.Object) error {
			if !change.HasOwner(answered, gone.UID) {
				return change.ErrNotShown
			}
			return nil
		},
	})
	return err
}

// TestAWriteIsDecidedOnTheVersionThatItChanges with a fault at each of the first answers: no write
// reaches another version or another object than the decision was about, and no success is told
// that an answer has not shown.
func TestAWriteIsDecidedOnTheVersionThatItChanges(t *testing.T) {
	t.Parallel()
	faults(4, func(sequence []fault) {
		for name, adds := range map[string]bool{"remove": false, "add": true} {
			s := newServer(sequence...)
			var err error
			if adds {
				s.set(keeps)
				err = add(s)
			} else {
				err = remove(s, cluster.PatchOptions{})
			}
			told := fmt.Sprintf("%s, faults %v: %v", name, sequence, err)
			switch {
			case len(s.wrong) > 0:
				t.Fatal(told, s.wrong)
			case err == nil && (s.shown == nil || *s.shown != adds):
				t.Fatal(told, "and no answer has shown that")
			case errors.Is(err, change.ErrGone) && s.now != nil, errors.Is(err, change.ErrReplaced) && s.now.UID == meant:
				t.Fatal(told, "and it is not")
			case errors.As(err, new(*cluster.PutBackError)) && (s.shown == nil || !*s.shown),
				errors.Is(err, change.ErrNotShown) && (s.shown == nil || *s.shown):
				t.Fatal(told, "and no answer has shown that")
			case s.patches > change.Tries:
				t.Fatal(told, s.patches, "patches")
			case s.now != nil && !change.HasOwner(s.now, keeps.UID):
				t.Fatal(told, "and another reference was lost")
			}
		}
	})
}

// TestADryRunStoresNothing, whatever is answered.
func TestADryRunStoresNothing(t *testing.T) {
	t.Parallel()
	faults(4, func(sequence []fault) {
		s := newServer(sequence...)
		err := remove(s, cluster.PatchOptions{DryRun: true})
		if s.now != nil && !change.HasOwner(s.now, gone.UID) {
			t.Fatalf("faults %v: %v, and the reference is not there any more", sequence, err)
		}
	})
}

// TestAnObjectThatChangesAllTheTimeIsLeftAlone after a bounded number of tries, and what the server
// says of a version that stays is its last word.
func TestAnObjectThatChangesAllTheTimeIsLeftAlone(t *testing.T) {
	t.Parallel()
	var always []fault
	for range 3 * change.Tries {
		always = append(always, changed)
	}
	s := newServer(always...)
	if err := remove(s, cluster.PatchOptions{}); !errors.Is(err, change.ErrMoved) || s.patches != change.Tries {
		t.Errorf("%v after %d patches", err, s.patches)
	}
	for _, f := range []fault{conflict, invalid, broken} {
		s := newServer(none, f)
		if err := remove(s, cluster.PatchOptions{}); err == nil || s.patches != 1 {
			t.Errorf("fault %d: %v after %d patches", f, err, s.patches)
		}
	}
}

// TestNotFoundOfAnObjectThatIsThereIsBelievedTheSecondTime: a proxy can answer so, once (T-01).
func TestNotFoundOfAnObjectThatIsThereIsBelievedTheSecondTime(t *testing.T) {
	t.Parallel()
	s := newServer(none, notFound)
	if err := remove(s, cluster.PatchOptions{}); err != nil || s.patches != 2 {
		t.Errorf("after one: %v after %d patches", err, s.patches)
	}
	s = newServer(none, notFound, none, notFound)
	if err := remove(s, cluster.PatchOptions{}); !apierrors.IsNotFound(err) || s.patches != 2 {
		t.Errorf("after two: %v after %d patches", err, s.patches)
	}
}

// TestARefusalThatCannotBeLookedIntoHasBothReasons.
func TestARefusalThatCannotBeLookedIntoHasBothReasons(t *testing.T) {
	t.Parallel()
	err := remove(newServer(none, conflict, broken), cluster.PatchOptions{})
	if err == nil || !strings.Contains(err.Error(), "not now") ||
		!strings.Contains(err.Error(), "could not be read again") {
		t.Errorf("error %v", err)
	}
}

// TestWhatIsLookedAfterWasSeen with a fault at each of the first looks, the last of which stays:
// that nothing was put back is what the last of several reads has shown, or a read that proved that
// the object is gone.
func TestWhatIsLookedAfterWasSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		faults(3, func(sequence []fault) {
			for range 10 {
				sequence = append(sequence, sequence[2])
			}
			s := newServer(sequence...)
			s.set(keeps)
			o := change.Object{Server: s, Type: configMaps, Ref: object}
			err := o.PutBack(t.Context(), []graph.OwnerReference{gone})
			over := s.now == nil || s.now.UID != meant
			switch {
			case err == nil && !over && (s.shown == nil || *s.shown || len(s.faults) > 10):
				t.Fatalf("faults %v: nothing was put back, and no read has shown that", sequence)
			case errors.As(err, new(*cluster.PutBackError)) && (s.shown == nil || !*s.shown):
				t.Fatalf("faults %v: %v, and no read has shown that", sequence, err)
			}
		})
	})
}

// TestEveryReadIsOfTheObjectThatIsMeant.
func TestEveryReadIsOfTheObjectThatIsMeant(t *testing.T) {
	t.Parallel()
	for f, want := range map[fault]error{none: nil, deleted: change.ErrGone, replaced: change.ErrReplaced,
		anonymous: cluster.ErrNoUID} {
		for name, read := range map[string]func(change.Object) error{
			"Read":         func(o change.Object) error { _, err := o.Read(t.Context()); return err },
			"ReadMetadata": func(o change.Object) error { _, err := o.ReadMetadata(t.Context()); return err },
			"ReadContent":  func(o change.Object) error { _, err := o.ReadContent(t.Context()); return err },
		} {
			if err := read(change.Object{Server: newServer(f), Type: configMaps, Ref: object}); !errors.Is(err, want) {
				t.Errorf("%s with fault %d: %v, want %v", name, f, err, want)
			}
		}
	}
}

// TestADeleteIsOfTheObjectThatIsMeant and leaves another of its name.
func TestADeleteIsOfTheObjectThatIsMeant(t *testing.T) {
	t.Parallel()
	s := newServer()
	other := object
	other.UID = "another"
	if _, err := (change.Object{Server: s, Type: configMaps, Ref: other}).
		Delete(t.Context(), cluster.DeleteOptions{}); !apierrors.IsConflict(err) || s.now == nil {
		t.Errorf("of another object: %v, %v is left", err, s.now)
	}
	answer, err := change.Object{Server: s, Type: configMaps, Ref: object}.Delete(t.Context(), cluster.DeleteOptions{})
	if err != nil || !answer.Gone || s.now != nil {
		t.Errorf("%v, %v, %v is left", answer, err, s.now)
	}
}

// TestAStatusIsGivenOnceAndOnlyToTheObjectThatIsMeant, whatever is answered to its requests.
func TestAStatusIsGivenOnceAndOnlyToTheObjectThatIsMeant(t *testing.T) {
	t.Parallel()
	faults(4, func(sequence []fault) {
		s := newServer(sequence...)
		given, err := change.Object{Server: s, Type: configMaps, Ref: object}.
			GiveStatus(t.Context(), map[string]any{"id": "vol-1"})
		stored := s.updates == 1 && s.status != nil
		switch {
		case s.updates > 1:
			t.Errorf("%v: it was written %d times", sequence, s.updates)
		case given && err == nil && !stored:
			t.Errorf("%v: given, and not stored", sequence)
		case stored && s.now != nil && s.now.UID != meant && err == nil && !given:
			t.Errorf("%v: another object has it", sequence)
		case !given && err == nil && !stored:
			t.Errorf("%v: neither given nor an error", sequence)
		}
	})
}

// TestAStatusThatIsThereIsKept: it is that of the object's controller.
func TestAStatusThatIsThereIsKept(t *testing.T) {
	t.Parallel()
	s := newServer()
	s.status = map[string]any{"id": "vol-2"}
	given, err := change.Object{Server: s, Type: configMaps, Ref: object}.
		GiveStatus(t.Context(), map[string]any{"id": "vol-1"})
	if given || err != nil || s.updates != 0 {
		t.Errorf("given %t, %v, %d updates", given, err, s.updates)
	}
}

// TestARefusalOfAnObjectThatMovesIsTold: a webhook can answer as the server does to an old version,
// and is what stands in the way then.
func TestARefusalOfAnObjectThatMovesIsTold(t *testing.T) {
	version, sent := 0, 0
	denied := apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "a", errors.New("the webhook says no"))
	err := change.Write{
		Read: func(context.Context) (string, error) {
			version++
			return strconv.Itoa(version), nil
		},
		Decide: func(context.Context) (func(context.Context) error, error) {
			return func(context.Context) error {
				sent++
				return denied
			}, nil
		},
	}.Do(t.Context())
	if !errors.Is(err, change.ErrMoved) || sent != change.Tries || !strings.Contains(err.Error(), "the webhook says no") {
		t.Errorf("sent %d times, error %v", sent, err)
	}
}
