package krew

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Snapshot makes the archives of some systems from a checkout as .goreleaser.yaml says, for where
// goreleaser cannot be had, and writes them with checksums.txt into a folder. The man pages are
// those in the checkout's man/. It returns the text of checksums.txt.
func Snapshot(ctx context.Context, checkout, tag, dir string, systems []System) (string, error) {
	r, err := ReadRelease(checkout)
	if err != nil {
		return "", err
	}
	values, err := commitOf(ctx, checkout, tag)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	var sums []string
	for _, s := range systems {
		name, format, err := r.archiveName(s, values)
		if err != nil {
			return "", err
		}
		members, err := r.members(ctx, checkout, s, values)
		if err != nil {
			return "", fmt.Errorf("making %s: %w", name, err)
		}
		var b bytes.Buffer
		if write := map[string]func(io.Writer, []member) error{"tar.gz": writeTar, "zip": writeZip}[format]; write == nil {
			err = fmt.Errorf("no archive of format %q is known", format)
		} else {
			err = write(&b, members)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600)
		}
		if err != nil {
			return "", fmt.Errorf("making %s: %w", name, err)
		}
		sum := sha256.Sum256(b.Bytes())
		sums = append(sums, hex.EncodeToString(sum[:])+"  "+name+"\n")
	}
	slices.SortFunc(sums, func(a, b string) int { return strings.Compare(a[66:], b[66:]) })
	text := strings.Join(sums, "")
	return text, os.WriteFile(filepath.Join(dir, "checksums.txt"), []byte(text), 0o600)
}

// commitOf is what goreleaser's templates know of the commit.
func commitOf(ctx context.Context, checkout, tag string) (map[string]string, error) {
	git := exec.CommandContext(ctx, "git", "log", "-1", "--format=%H %ct")
	git.Dir = checkout
	out, err := git.Output()
	if err != nil {
		return nil, fmt.Errorf("asking git for the commit: %w", err)
	}
	var hash string
	var seconds int64
	if _, err := fmt.Sscan(string(out), &hash, &seconds); err != nil {
		return nil, fmt.Errorf("git said %q of the commit: %w", out, err)
	}
	return map[string]string{
		"Tag": tag, "Version": strings.TrimPrefix(tag, "v"), "FullCommit": hash,
		"CommitDate": time.Unix(seconds, 0).UTC().Format(time.RFC3339), "CommitTimestamp": fmt.Sprint(seconds),
	}, nil
}

// member is one file of an archive.
type member struct {
	name    string
	content []byte
	Info
	at time.Time
}

// members are the executable of a system and the files beside it, in the order of their names.
func (r *Release) members(ctx context.Context, checkout string, s System, values map[string]string) ([]member, error) {
	binary, err := r.compile(ctx, checkout, s, values)
	if err != nil {
		return nil, err
	}
	name := r.Build().Binary
	if s.OS == "windows" {
		name += ".exe"
	}
	all := []member{{name: name, content: binary, Info: r.Archive().BuildsInfo}}
	root := os.DirFS(checkout)
	for _, f := range r.Archive().Files {
		matches, err := fs.Glob(root, f.Src)
		if err == nil && len(matches) == 0 {
			err = fs.ErrNotExist
		}
		if err != nil {
			return nil, fmt.Errorf("finding %s: %w", f.Src, err)
		}
		for _, match := range matches {
			content, err := fs.ReadFile(root, match)
			if err != nil {
				return nil, err
			}
			all = append(all, member{name: path.Clean(match), content: content, Info: f.Info})
		}
	}
	for i := range all {
		at, err := expand(all[i].MTime, values)
		if err == nil {
			all[i].at, err = time.Parse(time.RFC3339, at)
		}
		if err != nil {
			return nil, fmt.Errorf("the time of %s in the archive is not the commit's: %w", all[i].name, err)
		}
	}
	slices.SortFunc(all, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// compile builds the executable of a system.
func (r *Release) compile(ctx context.Context, checkout string, s System, values map[string]string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "kubectl-gc-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	b := r.Build()
	linker, err := expand(strings.Join(b.Ldflags, " "), r.of(s, values))
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, b.Binary)
	args := slices.Concat([]string{"build"}, b.Flags, []string{"-ldflags", linker, "-o", file, b.Main})
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = checkout
	cmd.Env = slices.Concat(os.Environ(), b.Env, []string{"GOOS=" + s.OS, "GOARCH=" + s.Arch, "GOFLAGS="})
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compiling for %s/%s: %w\n%s", s.OS, s.Arch, err, out)
	}
	return os.ReadFile(file)
}

func writeTar(w io.Writer, members []member) error {
	zipped := gzip.NewWriter(w)
	out := tar.NewWriter(zipped)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Mode: m.Mode, Size: int64(len(m.content)), ModTime: m.at, Uname: m.Owner,
			Gname: m.Group, Format: tar.FormatUSTAR}
		if err := out.WriteHeader(h); err != nil {
			return err
		}
		if _, err := out.Write(m.content); err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	return zipped.Close()
}

func writeZip(w io.Writer, members []member) error {
	out := zip.NewWriter(w)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: m.at}
		h.SetMode(fs.FileMode(m.Mode))
		file, err := out.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := file.Write(m.content); err != nil {
			return err
		}
	}
	return out.Close()
}
