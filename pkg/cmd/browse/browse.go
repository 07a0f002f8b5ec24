package browse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-gc/kubectl-gc/pkg/interrupt"
)

// Entry is one of a list. Its texts are printed as they are, and are to be escaped before.
type Entry struct {
	// Line is the entry in a line of so many columns, and Screen all that there is to say of it.
	Line, Screen func(columns int) string
}

// List is what is shown.
type List struct {
	// Title stands above the entries, wrapped to so many columns.
	Title   func(columns int) string
	Entries []Entry
	// Act says what the key r does to an entry, as in "run step 1".
	Act string
	// Again says that there is a key e, by which everything is examined again.
	Again bool
}

// Choice is the key with which a list was left.
type Choice int

// The choices.
const (
	Leave Choice = iota // q
	Act                 // r, for the entry that was chosen
	Again               // e
)

// Possible reports whether a list can be shown: somebody reads it and can answer, on a terminal
// that can move its cursor.
func Possible(in io.Reader, out io.Writer) bool {
	return printers.IsTerminal(in) && printers.IsTerminal(out) && os.Getenv("TERM") != "dumb"
}

// Show shows a list until it is left, and returns how, and the entry that was chosen then. It begins
// at an entry, as one that was chosen before.
func Show(ctx context.Context, in io.Reader, out io.Writer, l List, at int) (Choice, int, error) {
	ended, err := tea.NewProgram(model{List: l, at: min(at, len(l.Entries)-1)},
		tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler()).Run()
	if ctx.Err() != nil {
		return Leave, at, context.Cause(ctx)
	}
	if errors.Is(err, tea.ErrInterrupted) {
		return Leave, at, interrupt.ErrKey
	}
	if err != nil {
		return Leave, at, fmt.Errorf("showing the list: %w", err)
	}
	m := ended.(model)
	return m.choice, m.at, nil
}

// model is what a terminal shows: the list, or the entry at which it is, from a line on. Its columns
// and rows are 0 until the terminal's size is known.
type model struct {
	List
	at, from      int
	open          bool
	columns, rows int
	choice        Choice
}

// Init implements tea.Model.
func (m model) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.columns, m.rows = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return m.pressed(msg.String())
	}
	return m, nil
}

// pressed is what a key does.
func (m model) pressed(key string) (tea.Model, tea.Cmd) {
	switch key {
	case "q":
		return m.leave(Leave)
	case "ctrl+c":
		return m, tea.Interrupt
	case "e":
		if m.Again {
			return m.leave(Again)
		}
	case "r":
		return m.leave(Act)
	case "enter", "right", "l":
		m.open, m.from = true, 0
	case "esc", "left", "h", "backspace":
		if !m.open {
			return m, nil
		}
		m.open = false
	default:
		m.move(key)
	}
	return m, nil
}

func (m model) leave(how Choice) (tea.Model, tea.Cmd) {
	m.choice = how
	return m, tea.Quit
}

// move goes to another entry, or scrolls the one that is open.
func (m *model) move(key string) {
	at, last := &m.at, len(m.Entries)-1
	if m.open {
		at, last = &m.from, max(0, len(m.screen())-m.room())
	}
	switch key {
	case "up", "k":
		*at--
	case "down", "j":
		*at++
	case "pgup":
		*at -= m.room()
	case "pgdown", "space":
		*at += m.room()
	case "home", "g":
		*at = 0
	case "end", "G":
		*at = last
	}
	*at = max(0, min(*at, last))
}

// View implements tea.Model. Before the size is known it is empty: a list of another width would stand
// on the terminal for a moment.
func (m model) View() tea.View {
	if m.columns == 0 {
		return onItsOwnScreen("")
	}
	shown := append(m.title(), "")
	shown = append(shown, m.body()...)
	for len(shown) < m.rows-2 { // what the keys do is the last line of the terminal
		shown = append(shown, "")
	}
	return onItsOwnScreen(strings.Join(append(shown, "", m.keys()), "\n"))
}

// onItsOwnScreen is a view that leaves what the terminal showed before as it was.
func onItsOwnScreen(content string) tea.View {
	v := tea.NewView(content)
	v.AltScreen = true
	return v
}

func (m model) title() []string { return lines(m.Title(m.columns)) }

// lines are those of a text, without empty ones at its end.
func lines(text string) []string { return strings.Split(strings.TrimRight(text, "\n"), "\n") }

// room is how many lines there are between the title and the keys.
func (m model) room() int { return max(1, m.rows-len(m.title())-3) }

// body are the lines between the title and the keys.
func (m model) body() []string {
	if m.open {
		all := m.screen()
		from := min(m.from, len(all)-1)
		return all[from:min(len(all), from+m.room())]
	}
	first := max(0, m.at-m.room()+1)
	var rows []string
	for i, entry := range m.Entries[first:min(len(m.Entries), first+m.room())] {
		mark := "  "
		if first+i == m.at {
			mark = "> "
		}
		rows = append(rows, mark+entry.Line(m.columns-len(mark)))
	}
	return rows
}

// screen are the lines of the entry that is open. A command that is longer than a line goes on in the
// next: the terminal's own screen would cut it off.
func (m model) screen() []string {
	return lines(ansi.Hardwrap(m.Entries[m.at].Screen(m.columns), m.columns, true))
}

// keys says what the keys do.
func (m model) keys() string {
	keys := []string{"up/down: choose", "Enter: show", "r: " + m.Act}
	if m.open {
		keys = []string{"up/down: scroll", "Esc: back", "r: " + m.Act}
	}
	if m.Again {
		keys = append(keys, "e: examine again")
	}
	return strings.Join(append(keys, "q: leave"), "   ")
}
