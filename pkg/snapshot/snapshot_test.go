package snapshot

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// randomMeta is metadata with each field set now and then.
func randomMeta(rng *rand.Rand, i int) metav1.ObjectMeta {
	at := metav1.NewTime(time.Unix(1_700_000_000+int64(rng.IntN(1000)), 0).UTC())
	m := metav1.ObjectMeta{Name: fmt.Sprint("name-", i), UID: types.UID(fmt.Sprint("uid-", i)), ResourceVersion: fmt.Sprint(i),
		CreationTimestamp: at, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: metav1.NewFieldsV1(`{}`)}}}
	if rng.IntN(2) == 0 {
		m.Namespace, m.Labels = "shop", map[string]string{"app": "web"}
	}
	if rng.IntN(3) == 0 {
		m.DeletionTimestamp, m.Finalizers = &at, []string{"example.com/hold"}
	}
	if rng.IntN(2) == 0 {
		m.Annotations = map[string]string{"note": strings.Repeat("x", rng.IntN(300)), lastApplied: `{"data":"c2VjcmV0"}`}
	}
	if rng.IntN(2) == 0 {
		yes := true
		m.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u", Controller: &yes}}
	}
	return m
}

// encoded is an object as an API server encodes it.
func encoded(t *testing.T, m metav1.ObjectMeta) []byte {
	t.Helper()
	o := metav1.PartialObjectMetadata{ObjectMeta: m}
	raw, err := o.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestItemsKeepAllMetadataButManagedFieldsAndCopies(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var want, got []metav1.ObjectMeta
		var items Items
		deleted := []Name(nil)
		for i := range rng.IntN(40) {
			m := randomMeta(rng, i)
			if err := items.Add(encoded(t, m)); err != nil {
				t.Fatal(err)
			}
			if m.DeletionTimestamp != nil {
				deleted = append(deleted, Name{m.Namespace, m.Name})
			}
			slim := *m.DeepCopy()
			slim.ManagedFields = nil
			if _, copied := slim.Annotations[lastApplied]; copied {
				slim.Annotations[lastApplied] = ""
			}
			want = append(want, slim)
		}
		if items.Objects != len(want) || !slices.Equal(items.Deleted, deleted) {
			t.Fatalf("seed %d: %d objects, of which %v are deleted; want %d and %v", seed, items.Objects, items.Deleted, len(want),
				deleted)
		}
		err := ForEach(items.Encoded, func(it Item) {
			o := metav1.PartialObjectMetadata{}
			if err := o.Unmarshal(it.Encoded); err != nil {
				t.Fatal(err)
			}
			if o.Name != it.Name || o.Namespace != it.Namespace || string(o.UID) != it.UID ||
				o.ResourceVersion != it.ResourceVersion {
				t.Errorf("%+v is an item of %+v", it, o)
			}
			o.CreationTimestamp = metav1.NewTime(o.CreationTimestamp.UTC())
			if o.DeletionTimestamp != nil {
				o.DeletionTimestamp = &metav1.Time{Time: o.DeletionTimestamp.UTC()}
			}
			got = append(got, o.ObjectMeta)
		})
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("seed %d: %v\n%s", seed, err, diff)
		}
		if bytes.Contains(items.Encoded, []byte("c2VjcmV0")) {
			t.Errorf("seed %d: a copy of an object is saved", seed)
		}
	}
}

// TestItemsOfWhatIsNoObject: what cannot be decoded is an error.
func TestItemsOfWhatIsNoObject(t *testing.T) {
	t.Parallel()
	for _, item := range []string{"\x0a\x05ab", "\x0a", "{", "\x0a\x03\x0a\x05a"} {
		var items Items
		if err := items.Add([]byte(item)); !errors.Is(err, errMalformed) {
			t.Errorf("%q: %+v, %v", item, items, err)
		}
	}
}

// written is a snapshot with two lists, one of which was begun again.
func written(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, Head{Cluster: "c", Types: []Type{{APIResource: metav1.APIResource{Name: "pods", Kind: "Pod"}}}})
	if err != nil {
		t.Fatal(err)
	}
	pods, crds := Of{Resource: "pods", Namespace: "shop"}, Of{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
	page := func(names ...string) (items Items) {
		for _, name := range names {
			if err := items.Add(encoded(t, metav1.ObjectMeta{Name: name})); err != nil {
				t.Fatal(err)
			}
		}
		return items
	}
	w.Metadata(pods, page("expired"))
	w.Discard(pods)
	w.Metadata(pods, page("a", "b"))
	w.Metadata(pods, page())
	w.Metadata(pods, page("c"))
	w.Objects(crds, []json.RawMessage{[]byte(`{"kind":"CustomResourceDefinition"}`)})
	end, err := w.Close(End{Lists: []List{{Of: pods, ResourceVersion: "7"}}, Gaps: []v1alpha1.Gap{{Resource: "secrets"}}})
	if err != nil || end.Objects != 3 || end.Whole != 1 {
		t.Fatalf("%+v, %v", end, err)
	}
	return b.Bytes()
}

// contents are the names that a snapshot has.
func contents(f *File) (names []string, err error) {
	for _, of := range f.Lists() {
		for i := range f.Pages(of) {
			page, err := f.Page(of, i)
			if err == nil {
				err = ForEach(page, func(it Item) { names = append(names, it.Name) })
			}
			if err != nil {
				return nil, err
			}
		}
		objects, err := f.Objects(of.Group, of.Resource)
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			names = append(names, string(o))
		}
	}
	return names, nil
}

var whatIsWritten = []string{"a", "b", "c", `{"kind":"CustomResourceDefinition"}`}

func TestASnapshotHasWhatWasWrittenAndNotWhatWasDiscarded(t *testing.T) {
	t.Parallel()
	raw := written(t)
	f, err := Read(bytes.NewReader(raw), int64(len(raw)), enough)
	if err != nil {
		t.Fatal(err)
	}
	names, err := contents(f)
	slices.Sort(names)
	if !slices.Equal(names, whatIsWritten) || err != nil || f.Head.Cluster != "c" || len(f.Head.Types) != 1 ||
		!reflect.DeepEqual(f.End.Gaps, []v1alpha1.Gap{{Resource: "secrets"}}) || f.End.Lists[0].ResourceVersion != "7" {
		t.Errorf("%v, %v, %+v", names, err, f)
	}
}

// TestADamagedSnapshotIsAnErrorAndNeverOneWithLess: of one that is cut off anywhere, or has another
// byte anywhere, either an error says so or nothing is missing.
func TestADamagedSnapshotIsAnErrorAndNeverOneWithLess(t *testing.T) {
	t.Parallel()
	raw := written(t)
	check := func(what string, raw []byte) {
		f, err := Read(bytes.NewReader(raw), int64(len(raw)), enough)
		if err != nil {
			return
		}
		names, err := contents(f)
		if slices.Sort(names); err == nil && !slices.Equal(names, whatIsWritten) {
			t.Errorf("%s: %v", what, names)
		}
	}
	for n := range raw {
		if _, err := Read(bytes.NewReader(raw[:n]), int64(n), enough); err == nil {
			t.Errorf("cut off at %d of %d bytes, it is read", n, len(raw))
		}
		for _, bit := range []byte{1, 0x20, 0xff} {
			other := slices.Clone(raw)
			other[n] ^= bit
			check(fmt.Sprintf("byte %d ^ %x", n, bit), other)
		}
	}
}

// enough is more than what the tests write.
var enough = Limits{Entry: 1 << 20, Total: 1 << 20}

// TestWhatIsUnpackedIsBounded: an entry that would be unpacked to more than it may have, or than it
// says that it has, is an error, and so are entries that have too much together.
func TestWhatIsUnpackedIsBounded(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w, err := NewWriter(&b, Head{Server: strings.Repeat("x", 1<<20)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(End{}); err != nil {
		t.Fatal(err)
	}
	read := func(raw []byte, limits Limits) error {
		_, err := Read(bytes.NewReader(raw), int64(len(raw)), limits)
		return err
	}
	if err := read(b.Bytes(), Limits{Entry: 2 << 20, Total: 2 << 20}); err != nil {
		t.Error(err)
	}
	for want, limits := range map[string]Limits{
		"snapshot.json has more than 0 MiB": {Entry: 64 << 10, Total: 2 << 20},
		"what it holds has more than 1 MiB": {Entry: 2 << 20, Total: 1 << 20},
	} {
		if err := read(b.Bytes(), limits); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	var lies bytes.Buffer
	archive := zip.NewWriter(&lies)
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	bomb := encoder.EncodeAll(make([]byte, 1<<19), nil)
	to, err := archive.CreateRaw(&zip.FileHeader{Name: headName, Method: zstd.ZipMethodWinZip,
		CompressedSize64: uint64(len(bomb)), UncompressedSize64: 10})
	if err == nil {
		_, err = to.Write(bomb)
	}
	if err := errors.Join(err, archive.Close()); err != nil {
		t.Fatal(err)
	}
	if err := read(lies.Bytes(), enough); err == nil || !strings.Contains(err.Error(), "it has 524288 bytes, and not 10") {
		t.Errorf("an entry that has more than it says: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("PK\x03\x04"))
	f.Fuzz(func(_ *testing.T, raw []byte) {
		if f, err := Read(bytes.NewReader(raw), int64(len(raw)), enough); err == nil {
			_, _ = contents(f)
		}
		_ = (&Items{}).Add(raw)
	})
}
