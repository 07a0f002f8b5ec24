package render

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// CheckMetrics writes a report in the text format of Prometheus, for a textfile collector: the findings by code, severity and namespace, and whether the report
// is complete.
func CheckMetrics(w io.Writer, report *v1alpha1.CheckReport) error {
	out := bufio.NewWriter(w)
	counts := map[string]int{}
	for _, f := range report.Findings {
		counts[fmt.Sprintf(`code="%s",namespace="%s",severity="%s"`, f.Code, labelEscapes.Replace(Escape(f.Object.Namespace)), f.Severity)]++
	}
	fmt.Fprintln(out, "# HELP kubectl_gc_check_findings What is wrong with ownerReferences, namespaces and finalizers.\n# TYPE kubectl_gc_check_findings gauge")
	for _, labels := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(out, "kubectl_gc_check_findings{%s} %d\n", labels, counts[labels])
	}
	complete := 0
	if report.Complete {
		complete = 1
	}
	for _, m := range []struct {
		name, help string
		value      int
	}{
		{"objects", "How many objects were checked.", report.Objects},
		{"references", "How many ownerReferences were checked.", report.References},
		{"gaps", "How many types could not be listed or read.", len(report.Gaps)},
		{"complete", "Whether everything could be checked.", complete},
	} {
		fmt.Fprintf(out, "# HELP kubectl_gc_check_%s %s\n# TYPE kubectl_gc_check_%s gauge\nkubectl_gc_check_%s %d\n", m.name, m.help, m.name, m.name, m.value)
	}
	return out.Flush()
}
