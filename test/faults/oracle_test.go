package faults

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// judge says what is wrong with the outcome of a run that met a fault, given the outcome of one
// that met none.
func (s *scenario) judge(w *world, healthy, got *outcome, c combination) []string {
	var wrong []string
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if got.late {
		bad("did not end: it had to be interrupted after %s", got.took)
	}
	if s.waits && got.took > got.timeout+patience(healthy) {
		bad("ended %s after its time-out of %s", got.took-got.timeout, got.timeout)
	}
	if got.code != 0 && got.stderr == "" && !s.finding(got) {
		bad("exit code %d, and nothing on stderr", got.code)
	}
	for _, line := range s.deletedWrongly(w, healthy, got, c.fault.lie) {
		bad("%s", line)
	}
	differ := differences(healthy.after.words(), got.after.words())
	if !c.fault.lie && got.code == 0 && len(differ) > 0 {
		bad("exit code 0, and not everything was done: %s", strings.Join(differ, "; "))
	}
	if !c.fault.lie && s.inVain && got.code == 0 {
		bad("exit code 0, and what it waits for is still there")
	}
	if got.again != nil {
		if got.failed != "" {
			bad("the same command again: %s", got.failed)
		}
		if lines := differences(healthy.after.words(), got.again.words()); len(lines) > 0 {
			bad("the same command again does not do the rest: %s", strings.Join(lines, "; "))
		}
	}
	if !c.fault.lie {
		for _, line := range createdWrongly(w, got) {
			bad("%s", line)
		}
	}
	if len(differ) == 0 && got.code != 0 && strings.Contains(got.stderr, "timed out") &&
		!strings.Contains(healthy.stderr, "timed out") {
		bad("timed out, and everything was done")
	}
	for _, line := range s.saysWrongly(w, healthy, got, c) {
		bad("%s", line)
	}
	return wrong
}

// finding reports whether exit code 2 is an answer that is on stdout.
func (s *scenario) finding(got *outcome) bool { return got.code == 2 && got.stdout != "" }

// deletedWrongly finds what no run may do, whatever it says. If the
// server claims that an owner is gone, its dependents may be deleted.
func (s *scenario) deletedWrongly(w *world, healthy, got *outcome, lie bool) []string {
	var wrong []string
	lives := func(now state, key string) bool {
		o, there := now[key]
		return there && o.uid == w.made[key].uid && !o.deleting
	}
	for key, before := range w.made {
		if before.deleting {
			continue
		}
		if lives(healthy.after, key) && !lives(got.after, key) {
			wrong = append(wrong, key+" was deleted, which a healthy server's would not be")
		}
		if healthy.later != nil && lives(healthy.later, key) && got.later != nil && !lives(got.later, key) {
			wrong = append(wrong, key+" was deleted by the next run, which it would not be after a healthy server's")
		}
		if lives(got.after, key) || slices.Contains(s.roots, key) || s.collector || lie {
			continue
		}
		for _, ref := range before.owners {
			for owner, o := range w.made {
				if o.uid == string(ref.UID) && lives(got.after, owner) {
					wrong = append(wrong, fmt.Sprintf("%s was deleted, and its owner %s lives", key, owner))
				}
			}
		}
	}
	for key, before := range w.made {
		if key == s.rescued && strings.Contains(got.archived, before.uid) {
			continue
		}
		if now, there := got.after[key]; before.deleting && healthy.after[key].uid != "" && !there {
			wrong = append(wrong, fmt.Sprintf("%s is gone, and was to stay (%v)", key, now))
		}
	}
	if s.archive {
		for key, before := range w.made {
			if now, there := got.after[key]; (!there || now.deleting && !before.deleting) &&
				!strings.Contains(got.archived, before.uid) {
				wrong = append(wrong, key+" was deleted and is not in the archive")
			}
		}
	}
	slices.Sort(wrong)
	return wrong
}

// createdWrongly finds objects that were created and that the collector has a reason to delete, or
// has deleted.
func createdWrongly(w *world, got *outcome) []string {
	var wrong []string
	uids := map[string]bool{}
	for _, o := range got.after {
		uids[o.uid] = true
	}
	for key, o := range got.after {
		if before, was := w.made[key]; was && before.uid == o.uid {
			continue
		}
		for _, ref := range o.owners {
			if !uids[string(ref.UID)] {
				wrong = append(wrong, fmt.Sprintf("%s was created with a reference to %s/%s, which has another uid or is absent",
					key, ref.Kind, ref.Name))
			}
		}
		if got.later != nil && got.later[key].uid != o.uid {
			wrong = append(wrong, key+" was created, and the collector has deleted it")
		}
	}
	slices.Sort(wrong)
	return wrong
}

// saysWrongly finds what was said that is not so.
func (s *scenario) saysWrongly(w *world, healthy, got *outcome, c combination) []string {
	var wrong []string
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if !s.json {
		for _, name := range s.names {
			if strings.Contains(healthy.stdout, name) && !strings.Contains(got.stdout, name) && got.stderr == "" {
				bad("does not show %s, without a word", name)
			}
		}
		return wrong
	}
	if got.unreadable != nil {
		return append(wrong, fmt.Sprintf("stdout is no JSON: %v", got.unreadable))
	}
	want, said := healthy.said, got.said
	if said == nil {
		if got.code == 0 && want != nil {
			bad("exit code 0, and nothing on stdout")
		}
		return wrong
	}
	if want == nil || c.fault.lie {
		return wrong
	}
	missing, more := lacks(want.items, said.items), lacks(said.deletes, want.deletes)
	if len(more) > 0 {
		bad("plans to delete more: %v", more)
	}
	result := said.kind == "Result" || said.kind == "RestoreResult"
	if result && (got.code != 0 || len(differences(healthy.after.words(), got.after.words())) == 0) {
		missing = nil // its completeness is that of the plan, and it says what failed and what is left
	}
	if !result && (c.request.class == write || c.request.class == review) {
		missing = nil // the server refuses what is planned or tried, and not to show what there is
	}
	if said.complete && want.complete && len(missing) > 0 {
		bad("says that it is complete, and lacks %q; it has %q instead", missing, lacks(said.items, want.items))
	}
	for key, o := range got.after {
		if slices.Contains(said.gone, o.uid) {
			bad("says that %s is deleted, which is still there", key)
		}
	}
	for _, a := range said.done {
		if line := w.undone(got.after, a.Verb, a.Object.UID, a.Owners, a.Finalizers); line != "" {
			bad("says that it was done, and %s", line)
		}
	}
	return wrong
}

// undone says in what an action that is told as done was not done; empty if it was.
func (w *world) undone(now state, verb, uid string, owners, finalizers []string) string {
	if verb == "create" && !isThere(now, uid) {
		return "the created object is not there"
	}
	for key, o := range now {
		if o.uid != uid {
			continue
		}
		for _, ref := range o.owners {
			if verb == "orphan" && slices.Contains(owners, string(ref.UID)) {
				return key + " has its owner still"
			}
		}
		if verb == "adopt" && !slices.ContainsFunc(o.owners,
			func(ref metav1.OwnerReference) bool { return slices.Contains(owners, string(ref.UID)) }) {
			return key + " does not have the owner"
		}
		for _, owner := range owners {
			names := func(ref metav1.OwnerReference) bool {
				return ref.Kind+"/"+ref.Name == owner && isThere(now, string(ref.UID))
			}
			if verb == "refer" && !slices.ContainsFunc(o.owners, names) {
				return key + " does not have the owner " + owner
			}
		}
		for _, f := range o.finalizers {
			if verb == "removeFinalizer" && slices.Contains(finalizers, f) {
				return key + " has the finalizer " + f + " still"
			}
		}
		if verb == "delete" && !o.deleting {
			return key + " is not being deleted"
		}
	}
	return ""
}

// isThere reports whether an object with the uid is there.
func isThere(now state, uid string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(now)), func(o object) bool { return o.uid == uid })
}
