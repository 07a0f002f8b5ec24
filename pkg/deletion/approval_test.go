package deletion

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

func object(kind, name string) v1alpha1.ObjectRef {
	return v1alpha1.ObjectRef{APIVersion: "v1", Kind: kind, Resource: strings.ToLower(kind) + "s", Namespace: "shop",
		Name: name, UID: "uid-of-" + name}
}

// whole is a plan with something in each field that the digest is over.
func whole() *v1alpha1.Plan {
	grace := int64(5)
	claim := object("PersistentVolumeClaim", "data")
	return &v1alpha1.Plan{
		TypeMeta: v1alpha1.TypeMeta("Plan"), Policy: "Foreground", Complete: true, GracePeriodSeconds: &grace,
		Roots: []v1alpha1.ObjectRef{object("ConfigMap", "a"), object("ConfigMap", "b")},
		Actions: []v1alpha1.Action{
			{Verb: "delete", Object: object("ConfigMap", "a"), Policy: "Foreground", By: "client", Wave: 1},
			{Verb: "delete", Object: object("ConfigMap", "b"), Policy: "Foreground", By: "client", Wave: 1},
			{Verb: "delete", Object: object("Secret", "c"), Policy: "Background", By: "collector", Wave: 2},
			{Verb: "orphan", Object: object("Secret", "d"), Owners: []string{"uid-of-a", "uid-of-b"}, By: "collector", Wave: 2},
			{Verb: "setPolicy", Object: object("Database", "e"), Field: "spec.policy", Value: "Foreground", By: "client"},
			{Verb: "removeFinalizer", Object: object("ConfigMap", "a"), Finalizers: []string{"foregroundDeletion", "orphan"},
				By: "collector", Wave: 3},
		},
		Deleted: []v1alpha1.ObjectRef{object("ConfigMap", "a"), object("ConfigMap", "b"), object("Secret", "c")},
		Stuck:   []v1alpha1.Survivor{{Object: object("ConfigMap", "f")}, {Object: object("ConfigMap", "g")}},
		Blockers: []v1alpha1.Blocker{{Object: object("Secret", "c"),
			Finalizers: []string{"example.com/one", "example.com/two"}}},
		Disks: []v1alpha1.Disk{{Volume: object("PersistentVolume", "disk"), Claim: &claim, ReclaimPolicy: "Delete",
			Driver: "csi", Handle: "h"}},
		UnreadDisks:  []v1alpha1.ObjectRef{object("PersistentVolume", "unread"), object("PersistentVolume", "other")},
		Spared:       []v1alpha1.Spared{{Object: object("Bucket", "s"), Finalizer: "f"}},
		UnreadSpared: []v1alpha1.ObjectRef{object("Bucket", "u")},
		Decided: []v1alpha1.Decided{{Object: object("Bucket", "s"), Finalizer: "f", Field: "spec.policy",
			Value: `"Delete"`}},
	}
}

// TestTheDigestDoesNotDependOnTheOrderOfListing, nor on what is only said of the plan.
func TestTheDigestDoesNotDependOnTheOrderOfListing(t *testing.T) {
	t.Parallel()
	want := digestOf(whole())
	if !isDigest(want) {
		t.Fatalf("%q has not the form of a digest", want)
	}
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		p := whole()
		shuffle(rng, p.Roots)
		shuffle(rng, p.Actions)
		for i := range p.Actions {
			shuffle(rng, p.Actions[i].Owners)
			shuffle(rng, p.Actions[i].Finalizers)
			p.Actions[i].Wave, p.Actions[i].Because = rng.IntN(9), "in other words"
		}
		shuffle(rng, p.Deleted)
		shuffle(rng, p.Stuck)
		shuffle(rng, p.Blockers[0].Finalizers)
		shuffle(rng, p.UnreadDisks)
		p.Survivors = []v1alpha1.Survivor{{Object: object("ConfigMap", "kept")}}
		p.Forbidden = []v1alpha1.Forbidden{{Object: object("ConfigMap", "a"), Verb: "delete"}}
		p.Blockers[0].GracePeriodSeconds, p.DependsOnTiming, p.Digest = rng.Int64N(9), rng.IntN(2) == 0, "another"
		if got := digestOf(p); got != want {
			t.Fatalf("seed %d: %s, want %s", seed, got, want)
		}
	}
}

func shuffle[T any](rng *rand.Rand, list []T) {
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// TestEveryChangeOfWhatIsDoneChangesTheDigest, and no two changes come to the same.
func TestEveryChangeOfWhatIsDoneChangesTheDigest(t *testing.T) {
	t.Parallel()
	changes := map[string]func(p *v1alpha1.Plan){
		"nothing": func(*v1alpha1.Plan) {},
		"policy":  func(p *v1alpha1.Plan) { p.Policy = "Background" },
		"gap":     func(p *v1alpha1.Plan) { p.Complete = false },
		"grace":   func(p *v1alpha1.Plan) { *p.GracePeriodSeconds = 0 },
		"none":    func(p *v1alpha1.Plan) { p.GracePeriodSeconds = nil },
		"passed":  func(p *v1alpha1.Plan) { p.PropagateGracePeriod = true },
		"gc":      func(p *v1alpha1.Plan) { p.GC = "client" },
		"stuck":   func(p *v1alpha1.Plan) { p.Stuck = p.Stuck[:1] },
		"held": func(p *v1alpha1.Plan) {
			p.Blockers[0].Finalizers = append(p.Blockers[0].Finalizers, "example.com/three")
		},
		"retain":  func(p *v1alpha1.Plan) { p.Disks[0].ReclaimPolicy = "Retain" },
		"disk":    func(p *v1alpha1.Plan) { p.Disks[0].Handle = "another" },
		"read":    func(p *v1alpha1.Plan) { p.UnreadDisks = nil },
		"spared":  func(p *v1alpha1.Plan) { p.Spared = nil },
		"decided": func(p *v1alpha1.Plan) { p.Decided[0].Value = `"Retain"` },
		"field":   func(p *v1alpha1.Plan) { p.Decided[0].Field = "spec.other" },
		"unknown": func(p *v1alpha1.Plan) { p.UnreadSpared = nil },
		"root":    func(p *v1alpha1.Plan) { p.Roots = p.Roots[:1] },
		"deleted": func(p *v1alpha1.Plan) { p.Deleted = p.Deleted[:2] },
		"again": func(p *v1alpha1.Plan) {
			p.Actions = append(p.Actions, v1alpha1.Action{Verb: "delete", Object: object("Secret", "z")})
		},
	}
	for i := range whole().Actions {
		of := func(name string, change func(a *v1alpha1.Action)) {
			changes[fmt.Sprintf("%s of action %d", name, i)] = func(p *v1alpha1.Plan) { change(&p.Actions[i]) }
		}
		of("uid", func(a *v1alpha1.Action) { a.Object.UID = "another" })
		of("name", func(a *v1alpha1.Action) { a.Object.Name = "another" })
		of("namespace", func(a *v1alpha1.Action) { a.Object.Namespace = "another" })
		of("kind", func(a *v1alpha1.Action) { a.Object.Kind = "Another" })
		of("group", func(a *v1alpha1.Action) { a.Object.APIVersion = "another/v1" })
		of("verb", func(a *v1alpha1.Action) { a.Verb = "another" })
		of("policy", func(a *v1alpha1.Action) { a.Policy = "Another" })
		of("actor", func(a *v1alpha1.Action) { a.By = "controller" })
		of("owners", func(a *v1alpha1.Action) { a.Owners = append([]string{"another"}, a.Owners...) })
		of("finalizers", func(a *v1alpha1.Action) { a.Finalizers = append([]string{"another"}, a.Finalizers...) })
		of("field", func(a *v1alpha1.Action) { a.Field += ".another" })
		of("value", func(a *v1alpha1.Action) { a.Value += "another" })
		changes[fmt.Sprintf("absence of action %d", i)] = func(p *v1alpha1.Plan) {
			p.Actions = append(p.Actions[:i:i], p.Actions[i+1:]...)
		}
	}
	seen := map[string]string{}
	for name, change := range changes {
		p := whole()
		change(p)
		d := digestOf(p)
		if other, known := seen[d]; known {
			t.Errorf("%s and %s have the same digest", name, other)
		}
		seen[d] = name
	}
}

func TestAnotherVersionOfTheAPIIsTheSamePlan(t *testing.T) {
	t.Parallel()
	p := whole()
	p.Actions[0].Object.APIVersion = "v2"
	if digestOf(p) != digestOf(whole()) {
		t.Error("the digest is another one")
	}
}

func TestThePlanInAnArchiveIsTheOneThatWasPrinted(t *testing.T) {
	t.Parallel()
	p := whole()
	p.Cluster = "7e3a3bd5-4f5c-4a39-9a35-6b4dd54f6b8f"
	if digestOf(p) != digestOf(whole()) {
		t.Error("the digest is another one")
	}
}

func TestAnApprovalIsReadFromADigestOrTheFileOfAPlan(t *testing.T) {
	t.Parallel()
	p := whole()
	p.Digest = digestOf(p)
	changed := whole()
	changed.Digest = p.Digest
	changed.Actions = changed.Actions[1:]
	write := func(v any, marshal func(any) ([]byte, error)) string {
		text, err := marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "plan")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	toYAML := yaml.Marshal
	for text, plan := range map[string]bool{p.Digest: false, write(p, json.Marshal): true, write(p, toYAML): true} {
		a, err := ReadApproval(text)
		if err != nil || a.Digest != digestOf(p) || (a.Plan != nil) != plan || (a.Difference(p) != nil) != plan {
			t.Errorf("%s: %+v, %v", text, a, err)
		}
	}
	for text, want := range map[string]string{
		"sha256:123":                 "is neither a digest",
		strings.ToUpper(p.Digest):    "is neither a digest",
		"/nowhere/plan.json":         "is neither a digest",
		write(changed, json.Marshal): "it was changed",
		write(whole(), json.Marshal): "the plan has no digest",
		write(&v1alpha1.Result{TypeMeta: v1alpha1.TypeMeta("Result")}, json.Marshal): "its first document is a Result",
		write("{", func(v any) ([]byte, error) { return []byte(v.(string)), nil }):   "reading the plan in",
		t.TempDir(): "is a directory",
	} {
		if a, err := ReadApproval(text); a != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v; want %q", text, a, err, want)
		}
	}
}

func TestTheDifferenceNamesWhatIsDoneMoreAndLess(t *testing.T) {
	t.Parallel()
	approved, now := whole(), whole()
	now.Actions[2].Object, now.Deleted[2] = object("Secret", "new"), object("Secret", "new")
	now.Disks = nil
	got := (&Approval{Plan: approved}).Difference(now)
	want := &Difference{
		More: []string{"delete Secret shop/new (uid uid-of-new) (Background, by collector)"},
		Less: []string{"delete Secret shop/c (uid uid-of-c) (Background, by collector)",
			"destroy the data of PersistentVolume shop/disk (uid uid-of-disk)"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
