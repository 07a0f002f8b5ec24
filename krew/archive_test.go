package krew

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"testing"
	"time"
)

// TestArchivesSayWhatTheReleaseSays of each file: the mode, the owner and the time of the commit,
// and nothing of the file that was read.
func TestArchivesSayWhatTheReleaseSays(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)
	info := Info{Owner: "root", Group: "root", Mode: 0o755}
	members := []member{{name: "LICENSE", content: []byte("text"), Info: Info{Owner: "root", Group: "root", Mode: 0o644},
		at: at}, {name: "kubectl-gc", content: []byte("binary"), Info: info, at: at}}

	var packed bytes.Buffer
	if err := writeTar(&packed, members); err != nil {
		t.Fatal(err)
	}
	unzipped, err := gzip.NewReader(&packed)
	if err != nil {
		t.Fatal(err)
	}
	in := tar.NewReader(unzipped)
	for _, want := range members {
		h, err := in.Next()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err != nil || h.Name != want.name || h.Mode != want.Mode || h.Uname != "root" || h.Gname != "root" ||
			!h.ModTime.Equal(at) || string(content) != string(want.content) {
			t.Errorf("%v: %+v has %q", err, h, content)
		}
	}
	if _, err := in.Next(); err != io.EOF {
		t.Errorf("there is more: %v", err)
	}

	packed.Reset()
	if err := writeZip(&packed, members); err != nil {
		t.Fatal(err)
	}
	zipped, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	if err != nil || len(zipped.File) != len(members) {
		t.Fatalf("%v: %d files", err, len(zipped.File))
	}
	for i, want := range members {
		f := zipped.File[i]
		if f.Name != want.name || int64(f.Mode()) != want.Mode || !f.Modified.Equal(at) {
			t.Errorf("%s has mode %v and time %v", f.Name, f.Mode(), f.Modified)
		}
	}
}
