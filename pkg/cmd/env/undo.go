package env

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// auto is the value of --archive that puts the archive where restore --last finds it.
const auto = "auto"

// archiveVariable is the environment variable that makes it the default.
const archiveVariable = "KUBECTL_GC_ARCHIVE"

// Archives is the folder of the archives that nobody names.
func Archives() (archive.Folder, error) {
	home, err := os.UserHomeDir()
	return archive.Folder(filepath.Join(home, ".kube", "gc", "archives")), err
}

// archiveByItself names the archive.
func (m *Mutation) archiveByItself() error {
	folder, err := Archives()
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
func (m *Mutation) Archived(saved *archive.Saved, gaps bool) {
	render.Archived(m.ErrOut, m.Archive, saved, gaps)
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
