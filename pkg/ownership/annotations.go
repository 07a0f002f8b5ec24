package ownership

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Annotations returns the keys of the annotations that a listing keeps for a Request with Managers:
// those by which objects say what manages them.
func Annotations(definitions []*link.Definition) []string {
	var keys []string
	for _, d := range definitions {
		if of, told := d.Annotations(); told {
			keys = append(keys, of...)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
