package faults

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/check"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// output is what a command printed for programs, as far as it is about the objects of one world.
type output struct {
	kind     string
	complete bool
	failures int
	// items are what it says, a line each; deletes those that it plans to delete.
	items, deletes []string
	// done are the actions that it says were done.
	done []v1alpha1.Action
	// gone are the uids of objects that it says are deleted.
	gone []string
}

// parseOutput reads what a command printed with -o json. It is nil if that is nothing.
func (w *world) parseOutput(stdout string) (*output, error) {
	if strings.TrimSpace(stdout) == "" {
		return nil, nil
	}
	var head struct {
		Kind     string
		Complete *bool
		Gaps     []v1alpha1.Gap
	}
	raw := []byte(stdout)
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, err
	}
	out := &output{kind: head.Kind, complete: len(head.Gaps) == 0}
	if head.Complete != nil {
		out.complete = *head.Complete
	}
	var err error
	switch head.Kind {
	case "Tree":
		var tree v1alpha1.Tree
		err = json.Unmarshal(raw, &tree)
		for _, n := range tree.Nodes {
			w.say(out, n.Ref, "node %s, with %d owners", n.State, len(n.Owners))
		}
	case "Plan":
		var plan v1alpha1.Plan
		err = json.Unmarshal(raw, &plan)
		for _, a := range plan.Actions {
			w.say(out, a.Object, "action %s %s by %s", a.Verb, a.Policy, a.By)
			if name, ours := w.short(a.Object); ours && a.Verb == "delete" {
				out.deletes = append(out.deletes, name)
			}
		}
		for _, o := range plan.Deleted {
			w.say(out, o, "deleted")
		}
		for _, s := range plan.Survivors {
			w.say(out, s.Object, "survives")
		}
		for _, b := range plan.Blockers {
			w.say(out, b.Object, "blocks")
		}
		for _, s := range plan.Stuck {
			w.say(out, s.Object, "stuck")
		}
	case "Result":
		var result v1alpha1.Result
		err = json.Unmarshal(raw, &result)
		out.failures = len(result.Failed)
		for _, a := range result.Done {
			w.say(out, a.Object, "done %s", a.Verb)
			out.done = append(out.done, a)
		}
		for _, o := range result.Deleted {
			out.gone = append(out.gone, o.UID)
		}
	case "Diagnosis":
		var diagnosis v1alpha1.Diagnosis
		err = json.Unmarshal(raw, &diagnosis)
		for _, s := range diagnosis.Stuck {
			var codes []string
			for _, c := range s.Causes {
				codes = append(codes, whateverItsAge(c.Code))
			}
			slices.Sort(codes)
			w.say(out, s.Object, "stuck for %v", slices.Compact(codes))
		}
	case "CheckReport":
		var report v1alpha1.CheckReport
		err = json.Unmarshal(raw, &report)
		for _, f := range report.Findings {
			w.say(out, f.Object, "found %s, %s", f.Code, f.Effect)
			if name, ours := w.short(f.Object); ours && f.Effect == string(check.DeleteObject) {
				out.deletes = append(out.deletes, name)
			}
		}
	case "Archive":
		var archive v1alpha1.Archive
		err = json.Unmarshal(raw, &archive)
		for _, o := range archive.Objects {
			w.say(out, o, "archived")
		}
	case "RestorePlan":
		var plan v1alpha1.RestorePlan
		err = json.Unmarshal(raw, &plan)
		for _, a := range plan.Actions {
			w.say(out, a.Object, "action %s, with %d owners", a.Verb, len(a.Owners))
		}
		w.sayRest(out, plan.Left, plan.Held)
	case "RestoreResult":
		var result v1alpha1.RestoreResult
		err = json.Unmarshal(raw, &result)
		out.failures = len(result.Failed)
		for _, a := range result.Done {
			w.say(out, a.Object, "done %s", a.Verb)
			done := v1alpha1.Action{Verb: a.Verb, Object: a.Object}
			for _, owner := range a.Owners {
				done.Owners = append(done.Owners, owner.Kind+"/"+owner.Name)
			}
			if done.Object.UID = a.UID; a.UID != "" { // of a dry run nothing is there
				out.done = append(out.done, done)
			}
		}
		w.sayRest(out, result.Left, result.Held)
	default:
		err = fmt.Errorf("it is a %q", head.Kind)
	}
	slices.Sort(out.items)
	return out, err
}

// sayRest adds what a restore leaves alone and what it cannot restore.
func (w *world) sayRest(out *output, left, held []v1alpha1.Survivor) {
	for _, l := range left {
		w.say(out, l.Object, "left alone: %s", l.Reason)
	}
	for _, h := range held {
		w.say(out, h.Object, "not restored: %s", h.Reason)
	}
}

// whateverItsAge is the code of a cause that does not change while a command takes its time: for
// some seconds after a deletion neither the collector nor the namespace controller is blamed for
// having done nothing yet, and then they are.
func whateverItsAge(code string) string {
	switch core.Code(code) {
	case core.CollectorNotActing, core.NamespaceControllerNotActing:
		return string(core.InProgress)
	default:
		return code
	}
}

// say adds a line about an object, if it is one of the world's.
func (w *world) say(out *output, o v1alpha1.ObjectRef, format string, args ...any) {
	if name, ours := w.short(o); ours {
		out.items = append(out.items, name+": "+fmt.Sprintf(format, args...))
	}
}

// short is the name of an object without what is different in every world.
func (w *world) short(o v1alpha1.ObjectRef) (string, bool) {
	ours := o.Namespace == w.namespace || strings.HasPrefix(o.Name, w.namespace) || w.spare != "" &&
		(o.Namespace == w.spare || o.Name == w.spare)
	name := strings.TrimPrefix(o.Name, w.namespace+"-")
	if o.Kind == "Namespace" {
		name = map[string]string{w.namespace: "own", w.spare: "spare"}[o.Name]
	}
	return o.Kind + "/" + name, ours
}

// lacks returns the lines of want that are not in got.
func lacks(want, got []string) []string {
	var missing []string
	for _, line := range want {
		if !slices.Contains(got, line) {
			missing = append(missing, line)
		}
	}
	return missing
}
