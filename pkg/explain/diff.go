package explain

import (
	"strings"
)

// Diff returns the lines in which two texts differ, those that are missing from got after "-" and
// those that are missing from want after "+", with the line before each that both have. It is empty
// if the texts are the same.
func Diff(want, got string) string {
	a, b := lines(want), lines(got)
	common := make([][]int, len(a)+1) // how many lines the rests of both have in common, in the same order
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var out []string
	before := ""
	add := func(sign, line string) {
		if before != "" {
			out, before = append(out, "  "+before), ""
		}
		out = append(out, sign+" "+line)
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			before = a[i]
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			add("-", a[i])
			i++
		default:
			add("+", b[j])
			j++
		}
	}
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, "\n") + "\n"
}

func lines(text string) []string {
	all := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}
