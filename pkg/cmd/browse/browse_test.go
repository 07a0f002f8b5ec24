package browse

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// three are entries whose screens have ten lines.
func three() List {
	l := List{Act: "run step 1", Again: true, Title: func(int) string { return "context prod\n3 causes\n" }}
	for _, name := range []string{"a", "b", "c"} {
		l.Entries = append(l.Entries, Entry{
			Line:   func(columns int) string { return fmt.Sprintf("%s in %d columns", name, columns) },
			Screen: func(int) string { return strings.Repeat(name+" line\n", 9) + name + " end\n" },
		})
	}
	return l
}

// typed is what a list is after some keys, and whether it was left.
func typed(l List, keys ...tea.Key) (m model, left bool) {
	var now tea.Model = model{List: l}
	now, _ = now.Update(tea.WindowSizeMsg{Width: 80, Height: 9})
	for _, key := range keys {
		var cmd tea.Cmd
		now, cmd = now.Update(tea.KeyPressMsg(key))
		left = left || cmd != nil
	}
	return now.(model), left
}

var (
	up, down, enter, esc = tea.Key{Code: tea.KeyUp}, tea.Key{Code: tea.KeyDown}, tea.Key{Code: tea.KeyEnter}, tea.Key{Code: tea.KeyEscape}
	pageDown, end        = tea.Key{Code: tea.KeyPgDown}, tea.Key{Code: tea.KeyEnd}
)

func letter(r rune) tea.Key { return tea.Key{Code: r, Text: string(r)} }

func TestKeysChooseAndOpen(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		keys        []tea.Key
		want, wants []string
	}{
		"the first":             {nil, []string{"context prod\n3 causes\n", "> a in 78 columns\n  b in 78 columns\n"}, []string{"line"}},
		"the next":              {[]tea.Key{down}, []string{"  a in", "> b in"}, nil},
		"not beyond the last":   {[]tea.Key{down, down, down, down}, []string{"> c in"}, nil},
		"not before the first":  {[]tea.Key{down, up, up}, []string{"> a in"}, nil},
		"an entry":              {[]tea.Key{down, enter}, []string{"b line\nb line\n"}, []string{"a in", "b end"}},
		"the end of an entry":   {[]tea.Key{down, enter, end}, []string{"b line\nb end\n"}, nil},
		"scrolled to its end":   {[]tea.Key{enter, pageDown, pageDown, pageDown, pageDown}, []string{"a end"}, nil},
		"back":                  {[]tea.Key{down, enter, end, esc}, []string{"> b in"}, []string{"b end"}},
		"opened from the start": {[]tea.Key{enter, end, esc, enter}, []string{"a line"}, []string{"a end"}},
	} {
		m, left := typed(three(), test.keys...)
		content := m.View().Content
		for _, want := range test.want {
			if !strings.Contains(content, want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, content)
			}
		}
		for _, not := range test.wants {
			if strings.Contains(content, not) {
				t.Errorf("%s: %q is in\n%s", name, not, content)
			}
		}
		if lines := strings.Count(content, "\n") + 1; left || lines != 9 {
			t.Errorf("%s: left %t, %d lines, want the 9 of the terminal", name, left, lines)
		}
	}
}

// TestACommandIsNotCutOff: of one that is longer than a line, the end is what it does.
func TestACommandIsNotCutOff(t *testing.T) {
	t.Parallel()
	command := "kubectl gc unfinalize configmaps/" + strings.Repeat("a", 60) + " --finalizer example.com/hold --force"
	l := List{Title: func(int) string { return "context prod" }, Entries: []Entry{{Screen: func(int) string { return command }}}}
	m, _ := typed(l, enter)
	if content := m.View().Content; !strings.Contains(strings.ReplaceAll(content, "\n", ""), command) {
		t.Errorf("%q is missing in\n%s", command, content)
	}
	for line := range strings.Lines(m.View().Content) {
		if len(line) > 81 {
			t.Errorf("%q does not fit", line)
		}
	}
}

func TestKeysLeave(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		keys []tea.Key
		want Choice
		at   int
	}{
		"q":             {[]tea.Key{down, letter('q')}, Leave, 1},
		"r":             {[]tea.Key{down, letter('r')}, Act, 1},
		"r when open":   {[]tea.Key{down, enter, end, letter('r')}, Act, 1},
		"e":             {[]tea.Key{letter('e')}, Again, 0},
		"q when open":   {[]tea.Key{enter, letter('q')}, Leave, 0},
		"another entry": {[]tea.Key{down, down, letter('r')}, Act, 2},
	} {
		if m, left := typed(three(), test.keys...); !left || m.choice != test.want || m.at != test.at {
			t.Errorf("%s: left %t with %d at %d, want %d at %d", name, left, m.choice, m.at, test.want, test.at)
		}
	}
	if _, left := typed(three(), up, down, enter, esc, letter('x'), letter('y')); left {
		t.Error("another key leaves the list")
	}
	once := three()
	once.Again = false
	if m, left := typed(once, letter('e')); left || strings.Contains(m.View().Content, "e: ") {
		t.Errorf("a list that is not made again has the key e:\n%s", m.View().Content)
	}
}

// TestAListThatIsLongerThanTheTerminalFollowsTheChoice, which is always to be seen.
func TestAListThatIsLongerThanTheTerminalFollowsTheChoice(t *testing.T) {
	t.Parallel()
	l := three()
	for i := range 30 {
		l.Entries = append(l.Entries, Entry{Line: func(int) string { return fmt.Sprintf("entry %d", i) }})
	}
	for n := range len(l.Entries) {
		keys := make([]tea.Key, n)
		for i := range keys {
			keys[i] = down
		}
		m, _ := typed(l, keys...)
		if content := m.View().Content; strings.Count(content, "> ") != 1 || strings.Count(content, "\n") != 8 {
			t.Fatalf("after %d keys:\n%s", n, content)
		}
	}
}

func TestNothingIsShownBeforeTheSizeOfTheTerminalIsKnown(t *testing.T) {
	t.Parallel()
	var m tea.Model = model{List: three()}
	if content := m.View().Content; content != "" {
		t.Errorf("without a size it shows %q", content)
	}
	m, _ = m.Update(tea.WindowSizeMsg{Width: 40, Height: 9})
	if content := m.View().Content; !strings.Contains(content, "> a in 38 columns") {
		t.Errorf("of 40 columns it shows %q", content)
	}
}
