package render

import (
	"bytes"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/protect"
)

// WarnProtection writes what the policies do not deny although it deletes an object.
func WarnProtection(errOut io.Writer, p *protect.Protection) {
	WarnGaps(errOut, p.Gaps)
	for _, ref := range p.Unguarded {
		Warn(errOut, "the deletion of %s cannot be denied: the server evaluates no policy for it", refLocated(ref))
	}
	for _, ref := range p.Evictable {
		Warn(errOut, "an eviction of %s, as by kubectl drain, cannot be denied: the server does not ask about the uid of the pod; "+
			"a PodDisruptionBudget can refuse it", refLocated(ref))
	}
	for _, ref := range p.Lost {
		Warn(errOut, "%s is already being deleted, which no policy can stop", refLocated(ref))
	}
	for _, s := range p.Shared {
		Warn(errOut, "%s is deleted when the last of its owners is: %s. Print the policy again when one of them is gone",
			refLocated(s.Object), phrase.And(phrase.Words(s.Owners, refLocated)))
	}
}

// Policies writes the policies as YAML documents, each after what it denies.
func Policies(w io.Writer, p *protect.Protection) error {
	var out bytes.Buffer
	for _, policy := range p.Policies {
		fmt.Fprintf(&out, "# Protects %s. Denies the deletion of:\n", refLocated(policy.Object))
		for _, guard := range policy.Guards {
			but := ""
			if !guard.Orphan {
				but = " (except with --cascade=orphan)"
			}
			fmt.Fprintf(&out, "#   %s%s\n", refLocated(guard.Ref), but)
		}
		for _, manifest := range policy.Manifests() {
			text, err := yaml.Marshal(manifest)
			if err != nil {
				return err
			}
			fmt.Fprintf(&out, "---\n%s", text)
		}
	}
	_, err := out.WriteTo(w)
	return err
}

// CheckedDeletions writes what the server answers to deletions, a note each.
func CheckedDeletions(w io.Writer, all []protect.Checked) error {
	var lines []string
	for _, c := range all {
		says := "allowed"
		switch {
		case c.Err != nil:
			says = "unknown: " + Escape(phrase.Shorten(c.Err.Error()))
		case c.Denied:
			says = "denied"
		}
		if !c.Holds() {
			says += map[bool]string{true: " (must be denied)", false: " (must be allowed)"}[c.Guard]
		}
		lines = append(lines, refLocated(c.Ref)+": "+says)
	}
	return notes(w, NewStyle(Never, w, false), nil, lines...)
}
