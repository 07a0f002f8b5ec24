package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// cellsOf lays a table of some columns out and returns its lines' cells.
func linesOf(t *testing.T, s Style, columns []column[[]string], rows ...[]string) []string {
	t.Helper()
	var out strings.Builder
	if err := writeRows(&out, s, columns, rows); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func cellAt(i int) func([]string) string { return func(row []string) string { return row[i] } }

// TestTableFitsTheTerminal: the columns that may be shortened are, the widest first, and only as
// far as needed, and then one is left out, which is said; a wide table and one that goes to no
// terminal are left alone.
func TestTableFitsTheTerminal(t *testing.T) {
	columns := []column[[]string]{
		{header: "NAME", cell: cellAt(0)},
		{header: "WAITS-FOR", cell: cellAt(1), shorten: 1},
		{header: "BECAUSE", cell: cellAt(2), shorten: 1, drop: 1},
	}
	long := []string{strings.Repeat("n", 30), strings.Repeat("h", 25), strings.Repeat("b", 40)}
	for _, test := range []struct {
		style         Style
		held, because int
	}{
		{Style{}, 25, 40},
		{Style{Width: 101}, 25, 40},
		{Style{Width: 100}, 25, 39},
		{Style{Width: 80}, 22, 22},
		{Style{Width: 70}, 17, 17},
		{Style{Width: 60}, 25, 0},
		{Style{Width: 50}, 17, 0},
		{Style{Width: 42}, 9, 0},
		{Style{Width: 20}, 9, 0},
		{Style{Width: 20, Wide: true}, 25, 40},
	} {
		lines := linesOf(t, test.style, columns, long, []string{"n", "h", "b"})
		var widths [2]int
		for i, cell := range strings.Fields(lines[1])[1:] {
			widths[i] = width(cell)
		}
		if widths != [2]int{test.held, test.because} {
			t.Errorf("width %d, wide %t: columns of %d, want %d and %d", test.style.Width, test.style.Wide, widths, test.held,
				test.because)
		}
		text := strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
		if said := strings.Contains(text, "too narrow for the column BECAUSE:"); said != (test.because == 0) {
			t.Errorf("width %d: %q", test.style.Width, lines)
		}
	}
}

// TestRowsThatDifferLookDifferent: where what is left out is all that differs, its number stands
// there; a row that is there twice looks the same twice.
func TestRowsThatDifferLookDifferent(t *testing.T) {
	columns := []column[[]string]{{header: "NAME", cell: cellAt(0), shorten: 1}, {header: "KIND", cell: cellAt(1)}}
	name := func(in string) []string {
		return []string{strings.Repeat("a", 20) + in + strings.Repeat("z", 20), "Pod"}
	}
	lines := linesOf(t, Style{Width: 23}, columns, name("-x-"), name("-y-"), name("-x-"), name("-w-"), []string{"short", "Pod"})
	want := []string{"NAME               KIND", "aaaaaaa…zzzzzzzz   Pod", "aaaaaa…2…zzzzzzz   Pod", "aaaaaaa…zzzzzzzz   Pod",
		"aaaaaa…3…zzzzzzz   Pod", "short              Pod"}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// TestAnotherColumnTellsNoNamesApart: a name that is looked for is not found by its finalizer.
func TestAnotherColumnTellsNoNamesApart(t *testing.T) {
	columns := []column[[]string]{{header: "NAME", cell: cellAt(0), shorten: 1}, {header: "FINALIZER", cell: cellAt(1), shorten: 1}}
	long := strings.Repeat("a", 20)
	lines := linesOf(t, Style{Width: 37}, columns, []string{long + "-x-" + long, long}, []string{long + "-y-" + long, "b"},
		[]string{long + "-y-" + long, long + "-c-" + long}, []string{long + "-y-" + long, long + "-d-" + long})
	want := "NAME                FINALIZER\naaaaaaaa…aaaaaaaa   aaaaaaaa…aaaaaaaa\naaaaaaa…2…aaaaaaa   b\n" +
		"aaaaaaa…2…aaaaaaa   aaaaaaaa…aaaaaaaa\naaaaaaa…2…aaaaaaa   aaaaaaa…2…aaaaaaa"
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestVerdictsFit a terminal of 80 columns, with all that can be needed.
func TestVerdictsFit(t *testing.T) {
	for _, says := range []string{"remove", "refused: actor unknown", "refused: not deleting, actor unknown, use unknown"} {
		for _, needs := range []string{"", "confirmation", "--force, --force-live"} {
			v := verdict{says: says, needs: needs, Row: unfinalize.Row{Candidate: &unfinalize.Candidate{}}}
			v.Candidate.Ref = graph.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "cache"}
			v.Assessment.Name, v.Assessment.Actor.Life = "billing.example.com/close-account", actor.Unknown
			var out bytes.Buffer
			if err := verdictTable(&out, []verdict{v}, false, Style{Width: 80}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				if width(strings.TrimSuffix(line, "\n")) > 80 {
					t.Errorf("%s, %s:\n%s", says, needs, out.String())
				}
			}
		}
	}
}

func TestWhatIsShortenedKeepsWhatTellsItApart(t *testing.T) {
	for _, tt := range []struct {
		to         int
		text, want string
	}{
		{30, "web-5d79f54576-b4xk0", "web-5d79f54576-b4xk0"},
		{12, "web-5d79f54576-b4xk0", "web-5…-b4xk0"},
		{16, "kubernetes.io/pvc-protection", "kuberne…otection"},
		{16, "日本語日本語日本語", "日本語…語日本語"},
		{34, "its owner ReplicaSet/web-5d79f54576 is gone", "its owner Replica…79f54576 is gone"},
		{27, "its owner ConfigMap/parent is gone", "its owner C…/parent is gone"},
		{26, "it blocks owner Deployment shop/web, and is never collected", "it blocks owner…"},
		{16, "Deleting(95s), Synced: ReconcileError", "Deleting(95s)…"},
		{16, "Synced: ReconcileError", "Synced…"},
		{18, "Synced: ReconcileError", "Synced: Reco…Error"},
		{12, "Deleting(5m), Synced: ReconcileError", "Delet…g(5m),"},
		{4, "abc defgh", "abc…"},
	} {
		if got := brief(tt.text, tt.to); got != tt.want || width(got) > tt.to {
			t.Errorf("%q in %d columns: %q, want %q", tt.text, tt.to, got, tt.want)
		}
	}
	for _, tt := range []struct {
		to        int
		ref, want string
	}{
		{40, "Pod/web-5d79f54576-b4xk0", "Pod/web-5d79f54576-b4xk0"},
		{20, "Pod/web-5d79f54576-b4xk0", "Pod/web-5d7…76-b4xk0"},
		{24, "PersistentVolumeClaim/db", "PersistentVolumeClaim/db"},
		{20, "PersistentVolumeClaim/db", "Persiste…umeClaim/db"},
		{24, "PersistentVolumeClaim/data-postgres-0", "Persi…Claim/data-…gres-0"},
	} {
		if got := briefRef(tt.ref, tt.to); got != tt.want || width(got) > tt.to {
			t.Errorf("%q in %d columns: %q, want %q", tt.ref, tt.to, got, tt.want)
		}
	}
}

// TestNotesAreWrappedAtWords on a terminal only; a command has a line of its own, whole.
func TestNotesAreWrappedAtWords(t *testing.T) {
	const command = "kubectl patch pv pvc-1 pvc-2 -p '{\"spec\":{\"persistentVolumeReclaimPolicy\":\"Retain\"}}'"
	const note = "destroys the disks of 2 PersistentVolumes; to keep the disks, run first: " + command
	for width, want := range map[int]string{
		0:   note + "\n",
		40:  "destroys the disks of 2\n  PersistentVolumes; to keep the disks,\n  run first:\n" + command + "\n",
		100: "destroys the disks of 2 PersistentVolumes; to keep the disks, run first:\n" + command + "\n",
	} {
		var out strings.Builder
		if err := notes(&out, Style{Width: width}, nil, note); err != nil || out.String() != want {
			t.Errorf("width %d: %v\n%s\nwant\n%s", width, err, out.String(), want)
		}
	}
}

// TestALocaleWithoutUTF8DrawsASCII; none says nothing.
func TestALocaleWithoutUTF8DrawsASCII(t *testing.T) {
	for _, tt := range []struct {
		all, lang string
		ascii     bool
	}{
		{"", "", false}, {"C", "", true}, {"POSIX", "de_DE.UTF-8", true}, {"C.UTF-8", "C", false}, {"", "en_US.utf8", false},
		{"", "en_US", true},
	} {
		env := map[string]string{"LC_ALL": tt.all, "LANG": tt.lang}
		if got := asciiLocale(func(name string) string { return env[name] }); got != tt.ascii {
			t.Errorf("%v: %t", env, got)
		}
	}
}

// TestNarrowReasonSaysWhatBecomesOfTheOwner rather than a part of its name, which the tree shows.
func TestNarrowReasonSaysWhatBecomesOfTheOwner(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		because string
		to      int
		want    string
	}{
		{"its owner ReplicaSet/web-5d79f54576 is gone", 43, "its owner ReplicaSet/web-5d79f54576 is gone"},
		{"its owner ReplicaSet/web-5d79f54576 is gone", 38, "its owner Repl…/web-5d79f54576 is gone"},
		{"its owner ReplicaSet/web-5d79f54576 is gone", 20, "its owner is gone"},
		{"its owner Job/backup is gone, once example.com/f is removed", 30, "its owner Job/backup is gone…"},
		{"its owner Job/backup is gone, once example.com/f is removed", 26, "its owner is gone, once…"},
		{"its CRD CustomResourceDefinition/widgets.example.com is deleted", 20, "its CRD is deleted"},
		{"its owners are gone", 12, "its owners…"},
		{"it waits for ConfigMap/a", 16, "it waits for…"},
	} {
		if got := briefReason(c.because, c.to); got != c.want {
			t.Errorf("%q in %d columns is %q, want %q", c.because, c.to, got, c.want)
		}
	}
}
