package archive

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestFolderKeepsWhatIsYoungAndFits, and the newest in any case, and nothing that is not its own is
// removed.
func TestFolderKeepsWhatIsYoungAndFits(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	now := time.Date(2026, 1, 20, 0, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		ages []time.Duration
		most int64
		want int // of the newest
		// written says that the first was just written, as far as its name goes.
		written bool
	}{
		"none":            {nil, 100, 0, false},
		"young":           {[]time.Duration{13 * day, day, time.Hour}, 100, 3, false},
		"old":             {[]time.Duration{16 * day, 15 * day, day}, 100, 1, false},
		"all are old":     {[]time.Duration{30 * day, 20 * day}, 100, 1, false},
		"too many":        {[]time.Duration{3 * day, 2 * day, day}, 25, 2, false},
		"one is too much": {[]time.Duration{2 * day, day}, 5, 1, false},
		"of the last day": {[]time.Duration{day, 3 * time.Hour, 2 * time.Hour, time.Hour}, 5, 3, false},
		"just written":    {[]time.Duration{20 * day, time.Hour}, 5, 2, true},
	} {
		dir := filepath.Join(t.TempDir(), "archives")
		folder := Folder(dir)
		var files []string
		for _, age := range tt.ages {
			file, err := folder.Name(now.Add(age)) // the name says nothing of the age
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
			for _, path := range []string{file, file + createdSuffix, filepath.Join(dir, "notes.yaml")} {
				if err := os.WriteFile(path, make([]byte, 10), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(path, time.Time{}, now.Add(-age)); err != nil {
					t.Fatal(err)
				}
			}
		}
		written := ""
		if tt.written {
			written = files[0]
		}
		if err := folder.prune(now, written, tt.most); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		left, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
		if err != nil {
			t.Fatal(err)
		}
		if want := slices.Sorted(slices.Values(files[len(files)-tt.want:])); !slices.Equal(left, want) {
			t.Errorf("%s: %q are left, want %q", name, left, want)
		}
		if made, _ := filepath.Glob(filepath.Join(dir, "*"+createdSuffix)); len(made) != tt.want {
			t.Errorf("%s: %q are left", name, made)
		}
		last, err := folder.Last("")
		if len(files) == 0 {
			if err == nil {
				t.Errorf("%s: the last is %q", name, last)
			}
			continue
		}
		if err != nil || last != files[len(files)-1] {
			t.Errorf("%s: the last is %q, %v", name, last, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "notes.yaml")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if info, err := os.Stat(dir); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
			t.Errorf("%s: the folder is %v, %v", name, info, err)
		}
	}
}

// TestTheLastArchiveIsOfThisCluster, or does not say of which it is.
func TestTheLastArchiveIsOfThisCluster(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		clusters []string // oldest first
		want     int
	}{
		"the newest":         {[]string{"b", "a"}, 1},
		"of another cluster": {[]string{"a", "a", "b", "b"}, 1},
		"does not say":       {[]string{"a", ""}, 1},
		"none":               {[]string{"b"}, -1},
	} {
		folder := Folder(t.TempDir())
		var files []string
		for i, cluster := range tt.clusters {
			file, err := folder.Name(time.Unix(int64(i), 0))
			if err != nil {
				t.Fatal(err)
			}
			text := "apiVersion: gc.kubectl.dev/v1alpha1\nkind: Plan\ncluster: \"" + cluster + "\"\n"
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(file, time.Time{}, time.Unix(int64(i), 0)); err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		last, err := folder.Last("a")
		if tt.want < 0 {
			if err == nil || !strings.Contains(err.Error(), "no archive of this cluster") {
				t.Errorf("%s: %q, %v", name, last, err)
			}
		} else if err != nil || last != files[tt.want] {
			t.Errorf("%s: %q, %v", name, last, err)
		}
	}
}
