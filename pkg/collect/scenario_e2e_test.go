package collect_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// No controllers run where these are played: what upstream's would create the scenarios create,
// with the references that they would give it.

// pods makes pods as a controller does.
func (s *stage) pods(n int, refs ...metav1.OwnerReference) []*object {
	s.Helper()
	var pods []*object
	for i := range n {
		pods = append(pods, s.create("Pod", fmt.Sprintf("%s-%d", refs[0].Name, i), by(refs...)))
	}
	return pods
}

// orphaned expects objects that stay without owners.
func (s *stage) orphaned(objects ...*object) expectation {
	return func(ctx context.Context) (string, error) {
		for _, o := range objects {
			if wrong, err := s.stays(o)(ctx); wrong != "" || err != nil {
				return wrong, err
			}
		}
		return "", nil
	}
}

// E01: one of the pods is made when the controller is gone already, by its manager, which has not
// heard of that.
func TestDeletePodsCreatedByRCWhenNotOrphaning_E01(t *testing.T) {
	replay(t, func(s *stage) {
		rc := s.create("ReplicationController", "rc")
		pods := s.pods(2, controlled(rc))
		s.delete(rc, background)
		late := s.create("Pod", "late", by(controlled(rc)))
		s.collect(s.gone(rc, late), s.gone(pods...))
	})
}

func TestOrphanPodsCreatedByRCIfDeleteOptionsSaySo_E02(t *testing.T) {
	replay(t, func(s *stage) {
		rc := s.create("ReplicationController", "rc")
		pods := s.pods(20, controlled(rc))
		s.delete(rc, orphan)
		s.collect(s.gone(rc), s.orphaned(pods...))
	})
}

// E03: no policy is the type's own, which is to orphan (API-010).
func TestOrphanPodsCreatedByRCIfOrphanDependentsIsNil_E03(t *testing.T) {
	replay(t, func(s *stage) {
		rc := s.create("ReplicationController", "rc")
		pods := s.pods(2, controlled(rc))
		s.delete(rc, metav1.DeleteOptions{})
		s.collect(s.gone(rc), s.orphaned(pods...))
	})
}

func TestDeleteRSCreatedByDeploymentWhenNotOrphaning_E04(t *testing.T) {
	replay(t, func(s *stage) {
		deployment := s.create("Deployment", "deployment")
		rs := s.create("ReplicaSet", "rs", by(controlled(deployment)))
		pods := s.pods(2, controlled(rs))
		s.delete(deployment, background)
		s.collect(s.gone(deployment, rs), s.gone(pods...))
	})
}

func TestOrphanRSCreatedByDeploymentWhenPolicyIsOrphan_E05(t *testing.T) {
	replay(t, func(s *stage) {
		deployment := s.create("Deployment", "deployment")
		rs := s.create("ReplicaSet", "rs", by(controlled(deployment)))
		pods := s.pods(2, controlled(rs))
		s.delete(deployment, orphan)
		s.collect(s.gone(deployment), s.orphaned(rs), s.untouched(pods...))
	})
}

// E06: the controller goes after the last of its pods. One store has all of them, so that the
// versions in which they went can be compared.
func TestKeepRCAroundUntilAllItsPodsAreDeleted_E06(t *testing.T) {
	replay(t, func(s *stage) {
		rc := s.create("ReplicationController", "rc")
		pods := s.pods(10, controlled(rc))
		removedRC, removedPods := s.removals("ReplicationController", rc), s.removals("Pod", pods[len(pods)-1])
		s.delete(rc, foreground)
		s.collect(s.gone(rc), s.gone(pods...))
		last := removedRC(rc)
		if when := removedPods(pods...); slices.Max(when) > last[0] {
			s.Errorf("the controller was gone in version %d, its pods in %v", last, when)
		}
	})
}

// removals watches a type from the version on that an object was created in. What it returns waits
// until objects are gone and says in which version each of them went.
func (s *stage) removals(kind string, from *object) func(objects ...*object) []uint64 {
	s.Helper()
	w, err := s.resource(kind, s.ns).Watch(s.Context(), metav1.ListOptions{ResourceVersion: from.GetResourceVersion()})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(w.Stop)
	return func(objects ...*object) []uint64 {
		s.Helper()
		var when []uint64
		for len(when) < len(objects) {
			e, open := <-w.ResultChan()
			if !open {
				s.Fatalf("the watch of %s has ended", kind)
			}
			o, ok := e.Object.(*object)
			if e.Type != apiwatch.Deleted || !ok ||
				!slices.ContainsFunc(objects, func(x *object) bool { return x.GetUID() == o.GetUID() }) {
				continue
			}
			version, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
			if err != nil {
				s.Fatal(err)
			}
			when = append(when, version)
		}
		return when
	}
}

func TestNotDeleteDependentsThatHaveBothValidOwnerAndOwnerWaiting_E07(t *testing.T) {
	replay(t, func(s *stage) {
		gone, stays := s.create("ReplicationController", "gone"), s.create("ReplicationController", "stays")
		alone := s.pods(5, controlled(gone))
		want := []expectation{s.gone(gone), s.gone(alone...), s.untouched(stays)}
		for i := range 5 {
			want = append(want, s.stays(s.create("Pod", fmt.Sprintf("shared-%d", i), by(controlled(gone), owner(stays))), stays))
		}
		s.delete(gone, foreground)
		s.collect(want...)
	})
}

func TestNotBeBlockedByDependencyCircle_E08(t *testing.T) {
	replay(t, func(s *stage) {
		pod1 := s.create("Pod", "pod1")
		pod2 := s.create("Pod", "pod2", by(controlled(pod1)))
		pod3 := s.create("Pod", "pod3", by(controlled(pod2)))
		s.own(pod1, controlled(pod3))
		s.delete(pod1, foreground)
		s.collect(s.gone(pod1, pod2, pod3))
	})
}

// E09: the canary shows whether somebody collects objects of the type.
func TestSupportCascadingDeletionOfCustomResources_E09(t *testing.T) {
	replay(t, func(s *stage) {
		parent := s.create("ClusterGadget", "owner")
		dependent := s.create("ClusterGadget", "dependent", by(owner(parent)))
		canary := s.create("ClusterGadget", "canary")
		s.delete(canary, foreground)
		s.collect(s.gone(canary), s.untouched(parent, dependent))
		s.delete(parent, background)
		s.collect(s.gone(parent, dependent))
	})
}

func TestSupportOrphanDeletionOfCustomResources_E10(t *testing.T) {
	replay(t, func(s *stage) {
		parent := s.create("ClusterGadget", "owner")
		dependent := s.create("ClusterGadget", "dependent", by(owner(parent)))
		s.delete(parent, orphan)
		s.collect(s.gone(parent), s.orphaned(dependent))
	})
}

// E11: the pod of a real job has a finalizer that the job's controller removes (RO-033).
func TestDeleteJobsAndPodsCreatedByCronJob_E11(t *testing.T) {
	replay(t, func(s *stage) {
		cronJob := s.create("CronJob", "cronjob")
		job := s.create("Job", "job", by(controlled(cronJob)))
		pod := s.create("Pod", "pod", held("batch.kubernetes.io/job-tracking"), by(controlled(job)))
		s.delete(cronJob, background)
		s.collect(s.gone(cronJob, job), s.deleting(pod, "batch.kubernetes.io/job-tracking"))
		s.leftBecause(plan.ForeignFinalizers, pod)
		s.release(pod)
		s.collect(s.gone(pod))
	})
}
