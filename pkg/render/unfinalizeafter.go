package render

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// afterLines say what the garbage collector deletes when the objects are gone. Of many objects the
// first few have a line of their own.
func afterLines(p *unfinalize.Planned) []string {
	var lines []string
	for _, c := range p.Candidates() {
		if line := afterLine(c); line != "" {
			lines = append(lines, Escape(line))
		}
	}
	return firstLines(lines)
}

func afterLine(c *unfinalize.Candidate) string {
	after := c.After()
	if after == nil {
		return ""
	}
	var parts []string
	if len(after.Deleted) > 0 {
		when := "when " + KindName(c.Ref) + " is gone"
		if !c.Releases() {
			when += ", which its other finalizers still prevent"
		}
		what := phrase.Count(len(after.Deleted), "object") + ": " + phrase.And(KindNames(after.Deleted...))
		if len(after.Stopped) > 0 {
			parts = append(parts, fmt.Sprintf("the garbage collector does not run (%s): %s, nobody deletes %s; kubectl gc run does",
				strings.Join(after.Stopped, "; "), when, what))
		} else {
			parts = append(parts, fmt.Sprintf("%s, the garbage collector deletes %s", when, what))
		}
	}
	switch {
	case after.Unlisted:
		parts = append(
			parts, fmt.Sprintf("it is unknown what is deleted when %s is gone: it was not among the objects listed",
				KindName(c.Ref)))
	case len(after.Gaps) > 0:
		parts = append(parts, fmt.Sprintf("it is unknown what else is deleted when %s is gone: %s could not be listed",
			KindName(c.Ref), phrase.And(v1alpha1.TypeNames(after.Gaps))))
	}
	return strings.Join(parts, "; ")
}

// diskLines say which disks are destroyed.
func diskLines(p *unfinalize.Planned) []string {
	disks := allDisks(p)
	if len(disks) == 0 {
		return nil
	}
	return []string{Escape("it " + status.Destroys(disks))}
}

// allDisks are the volumes whose data are destroyed.
func allDisks(p *unfinalize.Planned) []v1alpha1.Disk {
	var disks []v1alpha1.Disk
	for _, c := range p.Candidates() {
		if c.After() != nil {
			disks = append(disks, c.After().Disks...)
		}
	}
	return disks
}
