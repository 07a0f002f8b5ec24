package docs

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// Causes returns the page of the codes of kubectl gc why, with what they mean.
func Causes() string {
	var b strings.Builder
	b.WriteString(
		"# Causes\n\nThe codes that `kubectl gc why` gives, in `stuck[].causes[].code` of its JSON. They do not change between versions. Made by `make docs`.\n\n| code | meaning |\n|---|---|\n")
	for _, k := range core.Kinds {
		fmt.Fprintf(&b, "| `%s` | %s |\n", k.Code, k.Means())
	}
	return b.String()
}
