package suggest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/linear"
)

// TestDistance holds the bounded distance against the plain one.
func TestDistance(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	word := func() string {
		b := make([]byte, r.IntN(8))
		for i := range b {
			b[i] = "abc"[r.IntN(3)]
		}
		return string(b)
	}
	for range 20_000 {
		a, b := word(), word()
		if got, want := distance(a, b), min(plainDistance(a, b), nearEnough+1); got != want {
			t.Fatalf("distance(%q, %q) = %d, want %d", a, b, got, want)
		}
	}
}

func plainDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

func TestDidYouMean(t *testing.T) {
	for _, tt := range []struct {
		word       string
		candidates []string
		want       string
	}{
		{"confgmap", []string{"configmap", "secret"}, "did you mean configmap?"},
		{"ConfigMpa", []string{"configmap", ""}, "did you mean configmap?"},
		{"web", []string{"web-5d9c", "other"}, "did you mean web-5d9c?"},
		{"wbe-1", []string{"web-1", "web-2", "web-3", "wbe-2", "web-1"}, "did you mean wbe-2 or web-1?"},
		{"aaaa", []string{"aaab", "aaac", "aaad", "aaae"}, "did you mean aaab or aaac or aaad?"},
		{"xyz", []string{"configmap"}, ""},
		{"web", []string{"job", "cm"}, ""},
		{"pdo", []string{"pod", "po", "svc"}, "did you mean po or pod?"},
		{"", []string{"a"}, ""},
	} {
		if got := DidYouMean(tt.word, tt.candidates); got != tt.want {
			t.Errorf("%q of %q: got %q, want %q", tt.word, tt.candidates, got, tt.want)
		}
	}
}

// BenchmarkLinearMistypedName looks for the names that are near to a mistyped one.
func BenchmarkLinearMistypedName(b *testing.B) {
	linear.Bench(b, 25_000, func(b *testing.B, n int) func() {
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("checkout-service-%06d", i)
		}
		return func() {
			if DidYouMean("checkout-servic-000042", names) == "" {
				b.Fatal("nothing is near")
			}
		}
	})
}
