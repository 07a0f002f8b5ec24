package env

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// Mutation is what all commands that write have in common: their flags, and how they ask.
type Mutation struct {
	*Env
	Output *Output
	// DryRun is none, client or server.
	DryRun string
	// Yes performs the plan without asking.
	Yes bool
	// Archive is a file; empty without the flag.
	Archive string
	// FailOn are the names of --fail-on.
	FailOn []string
	folder archive.Folder // of --archive=auto
}

// NewMutation returns a Mutation whose command prints some formats itself.
func NewMutation(e *Env, own ...string) Mutation {
	return Mutation{Env: e, Output: NewOutput(e, own...), DryRun: "none"}
}

// AddFailOn adds --fail-on, which takes some names.
func (m *Mutation) AddFailOn(cmd *cobra.Command, names []string) {
	cmd.Flags().StringSliceVar(&m.FailOn, "fail-on", nil,
		"End with code 2, and delete nothing, if the plan has one of these: "+strings.Join(names, ", "))
	m.CompleteFlag(cmd, "fail-on", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
}

// CheckFailOn finds a name that --fail-on does not take.
func (m *Mutation) CheckFailOn(cmd *cobra.Command, names []string) error {
	given := m.FailOn
	if len(given) == 0 && cmd.Flags().Changed("fail-on") {
		given = []string{""} // as of a variable that is not set: that nothing fails is not meant
	}
	for _, name := range given {
		if !slices.Contains(names, name) {
			return Usage(cmd, "--fail-on takes %s, not %q", strings.Join(names, ", "), name)
		}
	}
	return nil
}

var dryRuns = []string{"none", "client", "server"}

// AddDryRun adds --dry-run, which without a value is client.
func (m *Mutation) AddDryRun(cmd *cobra.Command, usage string) {
	flags := cmd.Flags()
	flags.StringVar(&m.DryRun, "dry-run", "none", usage)
	flags.Lookup("dry-run").NoOptDefVal = "client"
	m.CompleteFlag(cmd, "dry-run", cobra.FixedCompletions(dryRuns, cobra.ShellCompDirectiveNoFileComp))
}

// AddYes adds --yes.
func (m *Mutation) AddYes(cmd *cobra.Command, usage string) {
	cmd.Flags().BoolVarP(&m.Yes, "yes", "y", false, usage)
}

// UsageYes is the usual description of --yes.
const UsageYes = "Perform the plan without asking; required without a terminal"

// AddArchive adds --archive.
func (m *Mutation) AddArchive(cmd *cobra.Command, usage string) {
	cmd.Flags().StringVar(&m.Archive, "archive", "", usage)
}

// CheckDryRun finds what is wrong with the value of --dry-run.
func (m *Mutation) CheckDryRun(cmd *cobra.Command) error {
	if !slices.Contains(dryRuns, m.DryRun) {
		return Usage(cmd, "invalid dry-run value (%v). Must be \"none\", \"server\", or \"client\".", m.DryRun)
	}
	return nil
}

// CheckArchive finds what is wrong with --archive before anything is asked of the server; needs
// says what it goes with.
func (m *Mutation) CheckArchive(cmd *cobra.Command, needs string) error {
	typed := cmd.Flags().Changed("archive")
	setting := os.Getenv(archiveVariable)
	switch {
	case !typed && setting == "", !typed && m.DryRun != "none":
		return nil
	case !typed && setting != auto:
		return Usage(cmd, "%s can only be %s, and is %q", archiveVariable, auto, setting)
	case !typed, m.Archive == auto && m.DryRun == "none":
		return m.archiveByItself()
	case m.Archive == "":
		return Usage(cmd, "--archive needs the name of a file")
	case m.Archive == "-":
		return Usage(cmd, "--archive does not write to standard output, which is for the result; name a file")
	case m.DryRun != "none":
		return Usage(cmd, "--archive needs %s", needs)
	}
	if err := archive.Check(m.Archive); err != nil {
		return Usage(cmd, "--archive: %w", err)
	}
	return nil
}

// Lines reports whether lines for a person are printed, and neither names nor an object.
func (m *Mutation) Lines() bool { return m.Output.Format() == "" || m.Output.Wide() }

// Asks reports whether a person is asked before anything is written.
func (m *Mutation) Asks() bool { return m.DryRun == "none" && m.MayAsk() }

// MayAsk reports whether a person would be asked if it were no dry run, so that a dry run answers
// as the question does.
func (m *Mutation) MayAsk() bool { return !m.Yes && m.HasTerminal() }

// ShowRefused shows a plan that is not performed to a person. A program that asked for names or a
// Result gets none: it would take the plan for it.
func (m *Mutation) ShowRefused(show func() error) error {
	if !m.Lines() {
		return nil
	}
	return show()
}

// Show prints a plan in the format that was asked for: as a table that begins with where it is
// about, as names, or as an object.
func (m *Mutation) Show(table func(render.Style) error, names func() error, object func() Document) error {
	return m.Tell(func() error { return errors.Join(m.Head(m.Out), table(m.Style(m.Output))) }, names, object)
}

// Tell prints something in the format that was asked for: in lines for a person, as names, or as an
// object.
func (m *Mutation) Tell(lines, names func() error, object func() Document) error {
	switch {
	case m.Lines():
		return lines()
	case m.Output.IsOwn():
		return names()
	}
	return m.Output.Write(m.Out, object())
}

// Head writes the first line of a plan for a person: which cluster and namespace it is about.
func (m *Mutation) Head(w io.Writer) error {
	style := m.Style(m.Output)
	if style.NoHeaders {
		return nil
	}
	return render.Paragraphs(w, []string{m.where()}, style)
}

// Agree shows a plan and asks, for a name if there is one, unless --yes was given. Nothing is to be
// written if it returns an error, which says what was left undone, as in "nothing was removed".
func (m *Mutation) Agree(ctx context.Context, show func() error, question, name, undone string) error {
	switch {
	case m.Yes:
		return nil
	case !m.HasTerminal():
		return errors.Join(m.ShowRefused(show), NoTerminal(undone))
	}
	if err := show(); err != nil {
		return err
	}
	return m.Confirm(ctx, question, name, undone)
}

// NoTerminal is the refusal where nobody can be asked.
func NoTerminal(undone string) error {
	return answer.Refuse(answer.WithHint(errors.New(undone+": there is no terminal to ask on"),
		"add --yes to perform the plan, or --dry-run=client to only show it"))
}

// auto is the value of --archive that puts the archive where restore --last finds it.
const auto = "auto"

// archiveVariable is the environment variable that makes it the default.
const archiveVariable = "KUBECTL_GC_ARCHIVE"

// archives is the folder of the archives that nobody names.
func archives() (archive.Folder, error) {
	home, err := os.UserHomeDir()
	return archive.Folder(filepath.Join(home, ".kube", "gc", "archives")), err
}

// LastArchive returns the newest of these that is of the client's cluster, or of any.
func LastArchive(ctx context.Context, client *cluster.Client, ofAny bool) (string, error) {
	this := ""
	if !ofAny {
		var err error
		if this, err = client.Identity(ctx); err != nil {
			return "", err
		}
	}
	folder, err := archives()
	if err != nil {
		return "", err
	}
	return folder.Last(this)
}

// archiveByItself names the archive.
func (m *Mutation) archiveByItself() error {
	folder, err := archives()
	if err == nil {
		m.Archive, err = folder.Name(time.Now())
	}
	if err != nil {
		return fmt.Errorf("--archive=%s: %w", auto, err)
	}
	m.folder = folder
	return nil
}

// Archived says what is in the archive, and of one that nobody has named also which Secrets, and
// for how long it is kept. It prunes the others.
func (m *Mutation) Archived(saved *archive.Saved) {
	render.Archived(m.ErrOut, saved)
	if m.folder == "" {
		return
	}
	var secrets []string
	for _, ref := range saved.Refs {
		if ref.Group() == "" && ref.Resource == "secrets" {
			secrets = append(secrets, render.KindName(ref))
		}
	}
	line := fmt.Sprintf("it is kept for up to %d days", archive.KeptFor/(24*time.Hour))
	if len(secrets) > 0 {
		line += fmt.Sprintf(", with %s: %s", phrase.Count(len(secrets), "Secret"), phrase.FirstFew(secrets, phrase.MaxNamed))
	}
	fmt.Fprintln(m.ErrOut, line)
	if err := m.folder.Prune(time.Now(), m.Archive); err != nil {
		render.Warn(m.ErrOut, "cannot remove old archives: %s", render.Escape(err.Error()))
	}
}

// SayUndo says how to take back what was done, if there is an archive of it.
func (m *Mutation) SayUndo() {
	if _, err := os.Lstat(m.Archive); m.Archive == "" || errors.Is(err, os.ErrNotExist) {
		return
	}
	words := m.pasted(DefaultName + " restore -f " + phrase.ShellWord(m.Archive))
	fmt.Fprintf(m.ErrOut, "saved in %s; undo with: %s\n", render.Escape(m.Archive), render.Escape(words))
}
