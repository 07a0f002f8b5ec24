package plugins_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/plugins"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
)

// TestLinks runs the links of the packs against the objects of testdata/links, a folder for each
// pack, most of them as the programs make them, and compares what is found with links.txt. A pack
// with a link that no object there has fails. UPDATE_LINKS=1 go test ./plugins writes links.txt
// instead.
func TestLinks(t *testing.T) {
	t.Parallel()
	known := fixture.Packs(t)
	tested := map[string]bool{}
	for _, pack := range known.Packs() {
		links := naming(pack)
		if len(links) == 0 {
			continue
		}
		name := strings.TrimSuffix(pack.File, ".yaml")
		tested[name] = true
		t.Run(name, func(t *testing.T) {
			found, confirmed := testFolder(t, filepath.Join("testdata", "links", name), known)
			for _, d := range links {
				if !found[d.ID] {
					t.Errorf("no object has the link %s; put one into testdata/links/%s/objects", d.ID, name)
				}
				if len(d.Confirmed) > 0 && !confirmed[d.Name] {
					t.Errorf("no end confirms the link %s; put one into testdata/links/%s/objects", d.Name, name)
				}
			}
		})
	}
	folders, err := os.ReadDir(filepath.Join("testdata", "links"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if !tested[folder.Name()] {
			t.Errorf("testdata/links/%s is of no pack that has links; there are %v", folder.Name(),
				slices.Sorted(maps.Keys(tested)))
		}
	}
}

// naming are the links of a pack by which objects name others: dependents name their owner.
func naming(pack finalizer.Pack) []link.Definition {
	return slices.DeleteFunc(slices.Clone(pack.Links), func(d link.Definition) bool { return d.OfDependents() })
}

// TestWrittenPacksAreCurrent: known.json has all that the packs say, and links.json all of their
// links. UPDATE_LINKS=1 go test ./plugins writes them.
func TestWrittenPacksAreCurrent(t *testing.T) {
	t.Parallel()
	known := fixture.Packs(t)
	for file, test := range map[string]struct {
		packs   *finalizer.Registry
		current []byte
	}{"known.json": {known, plugins.Known}, "links.json": {known.LinksOnly(), plugins.Links}} {
		written, err := test.packs.Write()
		if err != nil {
			t.Fatal(err)
		}
		if os.Getenv("UPDATE_LINKS") != "" {
			if err := os.WriteFile(file, written, 0o644); err != nil {
				t.Fatal(err)
			}
		} else if !bytes.Equal(written, test.current) {
			t.Errorf("%s is not what the packs say; write it with UPDATE_LINKS=1 go test ./plugins", file)
		}
		read, err := finalizer.Read(written)
		if err != nil {
			t.Fatal(err)
		}
		everything := cmp.Exporter(func(reflect.Type) bool { return true })
		pattern := cmp.Comparer(func(a, b *regexp.Regexp) bool {
			return (a == nil) == (b == nil) && (a == nil || a.String() == b.String())
		})
		if diff := cmp.Diff(test.packs.Packs(), read.Packs(), everything, pattern, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: what is read is not what was written: (-want +got)\n%s", file, diff)
		}
	}
}

// testFolder compares the links of a folder with its links.txt, and returns the ids of those that
// were found, and the names of those that an end confirmed.
func testFolder(t *testing.T, dir string, known *finalizer.Registry) (found, confirmed map[string]bool) {
	t.Helper()
	test, err := explain.PackLinks(dir, known)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	if err := render.LinkTest(&got, test, render.Style{}); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("UPDATE_LINKS") != "" {
		if err := os.WriteFile(filepath.Join(dir, explain.LinksFile), []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, _, err := explain.ExpectedLinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := explain.Diff(want, got.String()); diff != "" {
		t.Errorf("the links are not those of %s; write them with UPDATE_LINKS=1 go test ./plugins\n%s",
			filepath.Join(dir, explain.LinksFile), diff)
	}
	found, confirmed = map[string]bool{}, map[string]bool{}
	for _, source := range test.Sources {
		for _, l := range source.Links {
			found[l.ID] = true
			confirmed[l.Name] = confirmed[l.Name] || l.Confirmed
		}
	}
	return found, confirmed
}
