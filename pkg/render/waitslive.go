package render

import (
	"fmt"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
)

// headline says how far a wait has come.
func headline(p act.Progress, after time.Duration) string {
	return fmt.Sprintf("%d of %d deleted after %s, wave %d of %d", p.Total-p.BlockedCount, p.Total,
		after.Round(time.Second), p.Wave, p.Waves)
}

// liveView are the lines that say on a terminal how far a wait has come and what is left, cut to
// its width.
func (w Waits) liveView(p act.Progress, after time.Duration, width int) []string {
	lines := []string{headline(p, after)}
	left := w.byUse(p.Blocked)
	shown := left[:min(len(left), mostLeft)]
	column := 0
	for _, l := range shown {
		column = max(column, len([]rune(KindName(l.Object))))
	}
	column = min(column, width/2)
	for _, l := range shown {
		lines = append(lines, fmt.Sprintf("  %-*s  %s", column, cut(KindName(l.Object), column), w.For(l)))
	}
	if more := p.BlockedCount - len(shown); more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more", more))
	}
	for i := range lines {
		lines[i] = cut(lines[i], width-1) // one that wrapped could not be written over
	}
	return lines
}
