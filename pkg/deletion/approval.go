package deletion

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// Approval is the plan that somebody has approved, or only its digest.
type Approval struct {
	// Digest is that of the plan.
	Digest string
	// Plan is nil if only the digest is known.
	Plan *v1alpha1.Plan
}

// ReadApproval reads an approval: a digest, or the name of a file with the plan as it was printed
// with -o json or yaml. The plan in a file must have the digest that it says it has.
func ReadApproval(text string) (*Approval, error) {
	if isDigest(text) {
		return &Approval{Digest: text}, nil
	}
	file, err := os.Open(text)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%q is neither a digest (sha256: and 64 hexadecimal digits) nor the file of a plan", text)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p, err := decodePlan(file)
	if err != nil {
		return nil, fmt.Errorf("reading the plan in %s: %w", text, err)
	}
	return &Approval{p.Digest, p}, nil
}

// decodePlan reads the first document of a file, which is the plan in an archive too.
func decodePlan(r io.Reader) (*v1alpha1.Plan, error) {
	var p v1alpha1.Plan
	if err := yaml.NewYAMLOrJSONDecoder(r, 4096).Decode(&p); err != nil {
		return nil, err
	}
	switch want := v1alpha1.TypeMeta("Plan"); {
	case p.TypeMeta != want:
		return nil, fmt.Errorf("its first document is a %s of %s, not a %s of %s", p.Kind, p.APIVersion, want.Kind,
			want.APIVersion)
	case p.Digest == "":
		return nil, errors.New("the plan has no digest")
	case p.Digest != digestOf(&p):
		return nil, errors.New(
			"the plan does not have the digest that it says: it was changed, or another version of kubectl gc printed it")
	}
	return &p, nil
}

// Difference is what a plan does and the approved one does not, and the other way round, in words,
// sorted.
type Difference struct{ More, Less []string }

// Difference compares a plan with the approved one. It is nil if only the digest of that is known.
func (a *Approval) Difference(now *v1alpha1.Plan) *Difference {
	if a.Plan == nil {
		return nil
	}
	before, after := entries(a.Plan), entries(now)
	return &Difference{More: beyond(after, before), Less: beyond(before, after)}
}

// beyond are the words of the entries that others do not have.
func beyond(all, others map[string]string) []string {
	var words []string
	for key := range maps.Keys(all) {
		if _, has := others[key]; !has && all[key] != "" {
			words = append(words, all[key])
		}
	}
	slices.Sort(words)
	return words
}
