package docs

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/test/stuck"
)

// Stuck returns the page of stuck deletions out of public threads that are rebuilt as tests.
func Stuck(cases []stuck.Case) string {
	counted := map[stuck.Verdict]int{}
	for _, c := range cases {
		counted[c.Verdict]++
	}
	var b strings.Builder
	fmt.Fprintf(&b, `# Stuck deletions

%d stuck deletions from public threads. Each is rebuilt on a real control plane by a script in [test/stuck](../test/stuck/testdata), which expects of
`+"`kubectl gc why` and `kubectl gc unfinalize`"+` what helped in the thread, and nothing that does harm. Made by `+"`make docs`"+` from the scripts.

"First run" is the answer that `+"`kubectl gc`"+` gave before anything was changed for the sake of the case: %d right, %d partly right, %d wrong. Now the tests expect
the right one of all.
`, len(cases), counted[stuck.Right], counted[stuck.Partly], counted[stuck.Wrong])
	for _, c := range cases {
		fmt.Fprintf(
			&b, "\n## %s\n\n- Seen in: <%s>\n- Symptom: %s\n- Answer: %s\n- Harmful: %s\n- First run: %s: %s\n- Test: [%s](../test/stuck/testdata/%[8]s)\n",
			c.Title, c.Source, c.Symptom, c.Answer, c.Harmful, c.Verdict, c.Because, c.File)
	}
	return b.String()
}
