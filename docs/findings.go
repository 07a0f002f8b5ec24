package docs

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/check"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// Findings returns the page of the codes of kubectl gc check, with what they mean.
func Findings() string {
	var b strings.Builder
	b.WriteString(
		"# Findings\n\nThe codes that `kubectl gc check` gives, in `findings[].code` of its JSON. They do not change between versions. Made by `make docs`.\n\n| code | severity | meaning |\n|---|---|---|\n")
	for _, k := range check.Kinds {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.Code, k.Severity, k.Meaning)
	}
	b.WriteString(
		"\n## Of a plan\n\nThe codes of `findings[]` in the JSON of a plan, which the table prints as lines below its summary.\n\n| code | severity | meaning |\n|---|---|---|\n")
	render.FindingCodes(func(code, severity, means string) {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", code, severity, means)
	})
	return b.String()
}
