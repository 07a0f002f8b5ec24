package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// afterLines say what the garbage collector deletes when the objects are gone. Of many objects the first few have a line of their own.
func afterLines(cases []*unfinalize.Case) []string {
	var lines []string
	for _, c := range cases {
		if line := afterLine(c); line != "" {
			lines = append(lines, render.Escape(line))
		}
	}
	return firstLines(lines)
}

func afterLine(c *unfinalize.Case) string {
	after := c.After()
	if after == nil {
		return ""
	}
	var parts []string
	if len(after.Deleted) > 0 {
		when := "when " + shortName(c.Ref) + " is gone"
		if !c.Releases() {
			when += ", which its other finalizers still prevent"
		}
		parts = append(parts, fmt.Sprintf("%s, the garbage collector deletes %s: %s", when, countWords(len(after.Deleted), "object"), phrase.And(shortNames(after.Deleted))))
	}
	switch {
	case after.Unlisted:
		parts = append(parts, fmt.Sprintf("what follows when %s is gone is not known: it was not among the objects listed", shortName(c.Ref)))
	case len(after.Gaps) > 0:
		parts = append(parts, fmt.Sprintf("whether more follows when %s is gone is not known: %s could not be listed", shortName(c.Ref), phrase.And(gapTypes(after))))
	}
	return strings.Join(parts, "; ")
}

func shortNames(refs []graph.Ref) []string {
	names := make([]string, len(refs))
	for i, ref := range refs {
		names[i] = shortName(ref)
	}
	return names
}

// gapTypes are the types that could not be listed.
func gapTypes(after *unfinalize.Aftermath) []string {
	var types []string
	for _, g := range after.Gaps {
		if name := typeName(g); !slices.Contains(types, name) {
			types = append(types, name)
		}
	}
	return types
}

// question asks for what is done and for all that comes of it: data first, then what is left undone, and what follows.
func question(cases []*unfinalize.Case) string {
	var sentences, undone []string
	var follow []graph.Ref
	for _, c := range cases {
		for _, v := range c.Verdicts {
			for _, r := range v.Refusals {
				if line := "Finalizer " + v.Name + ": " + r.Because + leavesOutside(c) + "."; r.Asks() && !slices.Contains(undone, line) {
					undone = append(undone, line)
				}
			}
		}
		if c.After() != nil {
			follow = append(follow, c.After().Deleted...)
		}
	}
	if disks := allDisks(cases); len(disks) > 0 {
		sentences = append(sentences, phrase.Sentence("this "+status.Destroys(disks)))
	}
	if n := len(undone) - phrase.MaxNamed; n > 0 {
		undone = append(undone[:phrase.MaxNamed], fmt.Sprintf("And so on for %d more.", n))
	}
	sentences = append(sentences, undone...)
	if len(follow) > 0 {
		sentences = append(sentences, fmt.Sprintf("Then the garbage collector deletes %s: %s.", countWords(len(follow), "object"), phrase.And(shortNames(follow))))
	}
	for i := range sentences {
		sentences[i] = render.Escape(sentences[i])
	}
	return strings.Join(append(sentences, "Do you want to continue? (y/N): "), "\n")
}

// diskLines say which disks are destroyed.
func diskLines(cases []*unfinalize.Case) []string {
	disks := allDisks(cases)
	if len(disks) == 0 {
		return nil
	}
	return []string{render.Escape("it " + status.Destroys(disks))}
}

// allDisks are the volumes whose data are destroyed.
func allDisks(cases []*unfinalize.Case) []v1alpha1.Disk {
	var disks []v1alpha1.Disk
	for _, c := range cases {
		if c.After() != nil {
			disks = append(disks, c.After().Disks...)
		}
	}
	return disks
}

// leavesOutside names what is left outside the cluster.
func leavesOutside(c *unfinalize.Case) string {
	outside := c.Outside()
	if len(outside) == 0 {
		return ""
	}
	return " (" + shortName(c.Ref) + ": " + strings.Join(outside, "; ") + ")"
}
