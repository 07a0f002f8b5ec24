package deletion

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// Approval is the plan that somebody has approved, or only its digest.
type Approval struct {
	// Digest is that of the plan.
	Digest string
	// Plan is nil if only the digest is known.
	Plan *v1alpha1.Plan
}

// ReadApproval reads an approval: a digest, or the name of a file with the plan as it was printed
// with -o json or yaml. The plan in a file must have the digest that it says it has.
func ReadApproval(text string) (*Approval, error) {
	if isDigest(text) {
		return &Approval{Digest: text}, nil
	}
	file, err := os.Open(text)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%q is neither a digest (sha256: and 64 hexadecimal digits) nor the file of a plan", text)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p, err := decodePlan(file)
	if err != nil {
		return nil, fmt.Errorf("reading the plan in %s: %w", text, err)
	}
	return &Approval{p.Digest, p}, nil
}

// decodePlan reads the first document of a file, which is the plan in an archive too.
func decodePlan(r io.Reader) (*v1alpha1.Plan, error) {
	var p v1alpha1.Plan
	if err := yaml.NewYAMLOrJSONDecoder(r, 4096).Decode(&p); err != nil {
		return nil, err
	}
	switch want := v1alpha1.TypeMeta("Plan"); {
	case p.TypeMeta != want:
		return nil, fmt.Errorf("its first document is a %s of %s, not a %s of %s", p.Kind, p.APIVersion, want.Kind,
			want.APIVersion)
	case p.Digest == "":
		return nil, errors.New("the plan has no digest")
	case p.Digest != digestOf(&p):
		return nil, errors.New(
			"the plan does not have the digest that it says: it was changed, or another version of kubectl gc printed it")
	}
	return &p, nil
}

// Difference is what a plan does and the approved one does not, and the other way round, in words,
// sorted.
type Difference struct{ More, Less []string }

// Difference compares a plan with the approved one. It is nil if only the digest of that is known.
func (a *Approval) Difference(now *v1alpha1.Plan) *Difference {
	if a.Plan == nil {
		return nil
	}
	before, after := entries(a.Plan), entries(now)
	return &Difference{More: beyond(after, before), Less: beyond(before, after)}
}

// beyond are the words of the entries that others do not have.
func beyond(all, others map[string]string) []string {
	var words []string
	for key := range maps.Keys(all) {
		if _, has := others[key]; !has && all[key] != "" {
			words = append(words, all[key])
		}
	}
	slices.Sort(words)
	return words
}

// digestVersion begins what is digested. It changes with the form of the entries, so that no digest
// of one form is one of another.
const digestVersion = "gc.kubectl.dev/plan/2\n"

// digestOf is over what a plan does: the requested deletes with their policy and grace period,
// every write with its object, its policy and who does it, which objects are deleted, which never
// can be, the finalizers that are waited for, the data that is destroyed or stays outside the
// cluster, and whether it is complete. It does not depend on the order in which objects were
// listed, on ages, resourceVersions, permissions or the words of sentences. It is a SHA-256, as
// "sha256:" and 64 hexadecimal digits.
func digestOf(p *v1alpha1.Plan) string { return contentOf(p).digest() }

// digest is that of the whole plan. It is over the digests of the entries, in their order, so that
// a plan of a million objects is never held in words.
func (c planContent) digest() string {
	entries := make([][sha256.Size]byte, 0, c.Size)
	c.each(false, func(key []byte, _ string) {
		entries = append(entries, sha256.Sum256(append(key, '\n')))
	})
	slices.SortFunc(entries, compareSums)
	hash := sha256.New()
	_, _ = io.WriteString(hash, digestVersion) // a hash returns no error
	for _, e := range slices.Compact(entries) {
		_, _ = hash.Write(e[:])
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil))
}

// compareSums orders digests. The first bytes almost always tell.
func compareSums(a, b [sha256.Size]byte) int {
	if first := cmp.Compare(binary.BigEndian.Uint64(a[:]), binary.BigEndian.Uint64(b[:])); first != 0 {
		return first
	}
	return bytes.Compare(a[:], b[:])
}

var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// isDigest reports whether a text has the form of a digest.
func isDigest(text string) bool { return digestForm.MatchString(text) }

// planContent is what a plan does, with what it has most of one at a time: the actions, and the
// objects that are deleted.
type planContent struct {
	// Plan is all else; its own Actions and Deleted are not looked at.
	Plan    *v1alpha1.Plan
	Actions iter.Seq[v1alpha1.Action]
	Deleted iter.Seq[v1alpha1.ObjectRef]
	// Size is about how many of both there are; 0 if that is not known.
	Size int
}

// contentOf returns the content of a whole plan.
func contentOf(p *v1alpha1.Plan) planContent {
	return planContent{p, slices.Values(p.Actions), slices.Values(p.Deleted), len(p.Actions) + len(p.Deleted)}
}

// entries are what a plan does, each with its words, by its key. An entry without words is told by
// another one.
func entries(p *v1alpha1.Plan) map[string]string {
	all := map[string]string{}
	contentOf(p).each(true, func(key []byte, words string) { all[string(key)] = words })
	return all
}

// each calls add with the key of each entry, and with its words if these are told.
func (c planContent) each(told bool, add func(key []byte, words string)) {
	words := func(format string, args ...any) string {
		if !told {
			return ""
		}
		return fmt.Sprintf(format, args...)
	}
	p := c.Plan
	add(entryKey("policy", p.Policy), words("propagation policy %s", p.Policy))
	if p.GC != "" {
		add(entryKey("gc", p.GC), words("the garbage collector's part is done by %s", p.GC))
	}
	if g := p.GracePeriodSeconds; g != nil {
		add(entryKey("gracePeriodSeconds", *g, p.PropagateGracePeriod), words("grace period of %d seconds", *g))
	}
	if !p.Complete {
		add(entryKey("incomplete"), words("types that may contain dependents could not be listed"))
	}
	for _, o := range p.Roots {
		add(entryKey("root", identity(o)), words("named: %s", named(o)))
	}
	for a := range c.Actions {
		does := ""
		if told {
			does = actionWords(a)
		}
		add(entryKey("action", a.Verb, identity(a.Object), a.Policy, a.By, sorted(a.Owners), sorted(a.Finalizers), a.Field,
			a.Value), does)
	}
	for i, s := range p.Stages {
		for _, o := range s.Objects {
			add(entryKey("stage", i+1, identity(o)), words("delete %s in stage %d", named(o), i+1))
		}
	}
	for o := range c.Deleted {
		add(entryKey("deleted", identity(o)), "")
	}
	for _, s := range p.Stuck {
		add(entryKey("stuck", identity(s.Object)), words("the deletion of %s cannot complete", named(s.Object)))
	}
	for _, b := range p.Blockers {
		for _, f := range b.Finalizers {
			add(entryKey("finalizer", identity(b.Object), f), words("wait for finalizer %s of %s", f, named(b.Object)))
		}
	}
	for _, d := range p.Disks {
		add(entryKey("disk", identity(d.Volume), d.Driver, d.Handle, d.Destroyed()),
			words("destroy the data of %s", named(d.Volume)))
	}
	for _, o := range p.UnreadDisks {
		add(entryKey("unreadDisk", identity(o)), words("perhaps destroy the data of %s", named(o)))
	}
	for _, s := range p.Spared {
		add(entryKey("spared", identity(s.Object), s.Finalizer),
			words("leave what %s manages outside the cluster", named(s.Object)))
	}
	for _, d := range p.Decided {
		add(entryKey("decided", identity(d.Object), d.Finalizer, d.Field, d.Value),
			words("%s of %s is %s", d.Field, named(d.Object), cmp.Or(d.Value, "not set")))
	}
	for _, o := range p.UnreadSpared {
		add(entryKey("unreadSpared", identity(o)), words("perhaps leave what %s manages outside the cluster", named(o)))
	}
}

// entryKey is what identifies an entry of a plan: a JSON array, so that no two are written alike.
func entryKey(parts ...any) []byte {
	text, err := json.Marshal(parts)
	if err != nil {
		// texts, numbers and lists of texts can be; to go on would leave an entry out of what is
		// approved
		panic("an entry cannot be written as JSON: " + err.Error())
	}
	return text
}

// identity is what identifies an object: its uid, and where it stands. The version of the API in
// which it was listed says nothing about it.
func identity(o v1alpha1.ObjectRef) []string {
	return []string{o.UID, o.Group(), o.Kind, o.Namespace, o.Name}
}

func actionWords(a v1alpha1.Action) string {
	words := a.Verb + " " + named(a.Object).String()
	if a.Field != "" {
		words += " " + a.Field + "=" + a.Value
	}
	for _, list := range [][]string{sorted(a.Finalizers), sorted(a.Owners)} {
		if len(list) > 0 {
			words += " " + strings.Join(list, ", ")
		}
	}
	if a.Policy != "" {
		return words + fmt.Sprintf(" (%s, by %s)", a.Policy, a.By)
	}
	return words + " (by " + a.By + ")"
}

// named is an object as entries name it.
type named v1alpha1.ObjectRef

func (o named) String() string {
	return fmt.Sprintf("%s (uid %s)", v1alpha1.ObjectRef(o).Located(), o.UID)
}

func sorted(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return slices.Sorted(slices.Values(list))
}
