package refusal

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

var (
	// protecting is a label or an annotation by whose name an object is not to be deleted.
	protecting = regexp.MustCompile(`(?i)protect|prevent|(?:do-?not|dont|no|deny|block|forbid|disallow)-?delet`)
	// off is a value by which such a label or annotation protects nothing.
	off = regexp.MustCompile(`(?i)^(?:false|disabled|off|no|never|none)$`)
	// lastWord is the last word of a kind: Policy of ClusterPolicy.
	lastWord = regexp.MustCompile(`[A-Z][a-z0-9]+$`)
)

// mostAsked is of how many objects it is asked whether they are those of which a denial speaks.
const mostAsked = 20

// spokenOf completes the finding about somebody who denies a deletion with what the denial speaks
// of: a label or an annotation of the object that protects it, or else other objects, as the policy
// of a program that has one webhook for all.
func (e *Examiner) spokenOf(ctx context.Context, w admission.Write, said string, f core.Finding) core.Finding {
	words := saidWords(said)
	if g, guarded := guardedBy(w.Object, words); guarded {
		f.Evidence = append(f.Evidence, core.ObservedAt(cluster.Place(w.Object, g.field),
			fmt.Sprintf("its %s %s is %q, and the denial names that", g.what, g.key, g.value))...)
		f.Sentence = fmt.Sprintf("its deletion is denied, and the denial names its %s %s", g.what, g.key)
		f.Remedy = fmt.Sprintf("Do what the denial asks for. If the object is to be deleted all the same, remove the %s.", g.what)
		f.Commands = append(f.Commands[:1:1], core.At(e.Ref(w.Object), core.Command("kubectl", g.verb, "OBJECT", g.key+"-")).
			Doing("removes the protection: the next deletion may succeed").Disturbing())
		return f
	}
	var names []string
	var looks []core.Step
	for _, o := range e.named(ctx, w, words) {
		names = append(names, cluster.Located(o))
		looks = append(looks, core.At(e.Ref(o), core.Describe()).Safely("shows what the denial names"))
	}
	if len(names) > 0 {
		says := "the denial names " + phrase.And(names)
		f.Evidence = append(f.Evidence, core.Observed(says)...)
		f.Sentence = "its deletion is denied, and " + says
		f.Remedy = fmt.Sprintf("First look at %s. ", phrase.And(names)) + f.Remedy
		f.Commands = append(looks, f.Commands...)
	}
	return f
}

// saidWords are the words of a denial, without those with which the server names a policy.
func saidWords(said string) []string {
	if _, text, found := strings.Cut(said, "denied request: "); found {
		said = text
	}
	return strings.FieldsFunc(said, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`,;:()[]{}=", r) })
}

// protection is a label or an annotation of an object, where it is, and what changes it.
type protection struct{ what, field, verb, key, value string }

// guardedBy returns the label or the annotation of an object that protects it and that some words
// name.
func guardedBy(o *unstructured.Unstructured, words []string) (protection, bool) {
	for _, in := range []struct {
		p   protection
		all map[string]string
	}{
		{protection{what: "annotation", field: "metadata.annotations", verb: "annotate"}, o.GetAnnotations()},
		{protection{what: "label", field: "metadata.labels", verb: "label"}, o.GetLabels()},
	} {
		for _, word := range words {
			if value, has := in.all[word]; has && protecting.MatchString(word) && !off.MatchString(value) {
				in.p.key, in.p.value = word, value
				return in.p, true
			}
		}
	}
	return protection{}, false
}

// named are the objects that some words name behind their kind, or behind its last word: policies
// NAME.
func (e *Examiner) named(ctx context.Context, w admission.Write, words []string) (all []*unstructured.Unstructured) {
	namespace := w.Object.GetNamespace()
	if cluster.Namespaces == w.Type.GroupResource() {
		namespace = w.Object.GetName()
	}
	asked := 0
	for _, r := range e.Catalog.Resources {
		kind, last := strings.ToLower(r.Kind), strings.ToLower(lastWord.FindString(r.Kind))
		for i, word := range words[:max(len(words)-1, 0)] {
			word, name := strings.ToLower(word), words[i+1]
			isKind := word == kind || word == r.Resource || last != "" && slices.Contains(plurals(last), word)
			if !isKind || asked == mostAsked || len(validation.IsDNS1123Subdomain(name)) > 0 || name == w.Object.GetName() {
				continue
			}
			asked++
			o, err := e.Reader.GetObject(ctx, r.GroupResource(), r.Place(namespace), name)
			if err == nil && o != nil && o.GetUID() != w.Object.GetUID() {
				all = append(all, o)
			}
		}
	}
	return all
}

// plurals are a word and its plural.
func plurals(word string) []string {
	if stem, ends := strings.CutSuffix(word, "y"); ends {
		return []string{word, stem + "ies"}
	}
	return []string{word, word + "s", word + "es"}
}
