package finalizers

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// speaks is the need of objects of another kind for which a custom resource says that it waits: that
// they are not ready yet (https://github.com/openstack-k8s-operators/keystone-operator/pull/174), or
// that they have to go first (https://github.com/kyma-project/btp-manager/issues/174). They are found
// by the kind, in one word or in several, and by their names where the text has them, in the first
// text in which there are any. Of those that are to become ready only those count that say
// themselves that they are not well, and of those without a name only those beside the object. What
// has to go may be anywhere.
func (e dependencies) speaks(ctx context.Context, o *unstructured.Unstructured) (n need) {
	if e.Many || cluster.BuiltIn(o.GroupVersionKind().Group) || o.GetDeletionTimestamp() == nil {
		return n
	}
	asked := map[graph.Type]bool{} // the types that were listed
	for _, said := range e.texts(ctx, o) {
		waits, gone := notReady.MatchString(said.Text), goesFirst.MatchString(said.Text)
		if !waits && !gone || notThere.MatchString(said.Text) {
			continue
		}
		var all []string
		for _, by := range e.meantBy(ctx, said.Text, o, asked) {
			field, says, state := "metadata", "", "exists"
			switch {
			case by.GetDeletionTimestamp() != nil:
				state = "is being deleted too"
			case waits:
				if field, says = e.unwell(by); says == "" {
					continue
				}
				state = "is not healthy: " + says
			}
			if !waits && by.GetDeletionTimestamp() != nil {
				n.waited = append(n.waited, namer{ref: e.Ref(by), field: said.Field, told: true, deleting: true})
			}
			if all = append(all, cluster.Located(by)); len(all) > phrase.MaxNamed {
				continue
			}
			n.seen = append(n.seen, core.ObservedAt(cluster.Place(by, field),
				fmt.Sprintf("%s mentions %s, which %s", said.Field, cluster.Located(by), state))...)
			n.look = append(n.look, core.At(e.Ref(by), core.Describe()).Safely("shows what is said of it"))
		}
		switch {
		case len(all) == 0:
			continue
		case waits:
			n.what, n.mend = phrase.And(all)+" to become ready", "see to that first"
		default:
			n.what = phrase.And(all) + " to be deleted first, or to stop using the object"
			n.mend = "see what goes with it and delete it"
		}
		return n
	}
	return n
}

// texts are what an object says of itself that is not well, and what was recorded about it since its
// deletion.
func (e dependencies) texts(ctx context.Context, o *unstructured.Unstructured) (all []status.Said) {
	for _, c := range status.Failing(o) {
		all = append(all, status.Said{Field: "condition " + c.Type, Text: c.Message})
	}
	since := o.GetDeletionTimestamp().Time
	for _, w := range e.WarnedSince(ctx, o, since) {
		all = append(all, status.Said{Field: "warning " + w.Reason, Text: w.Message})
	}
	all = append(all, status.Texts(o)...)
	if w, waits := e.Waiting(ctx, o, since); waits {
		all = append(all, status.Said{Field: "event " + w.Reason, Text: w.Message})
	}
	return all
}

var (
	// notReady is how a text says that something is to become ready.
	notReady = regexp.MustCompile(`(?i)\bnot (?:yet )?(?:ready|available|running|healthy|reachable)\b` +
		`|\bwait(?:s|ing)? (?:for|until|on) .*\b(?:ready|available|running|healthy|reachable|up)\b`)
	// goesFirst is how a text says that something has to go first.
	goesFirst = regexp.MustCompile(`(?i)\b(?:must|has to|have to|needs? to|should) (?:first )?be (?:removed|deleted|gone|cleaned up)\b` +
		`|\bstill (?:exists?|present|there|in use|used|referenced|uses?|refers?|references?|remains?|being deleted)\b` +
		`|\b(?:in use|used|referenced) by\b|\bprotected from deletion\b|\b(?:that|which) blocks? (?:the |its )?deletion\b|\battached to\b|\bwait(?:s|ing)? (?:for|until|on) .*\b(?:deleted|deletion|removed|gone|cleaned up)\b`)
	// notThere is how a text says that something is missing, which is looked for in another way.
	notThere = regexp.MustCompile(`(?i)\bnot found\b|\b(?:not|n't) exist\b|\bmissing\b`)
	// kindWords parts a kind into its words: KeystoneAPI, ServiceInstance.
	kindWords = regexp.MustCompile(`[A-Z]+(?:[a-z0-9]+|$)|[A-Z]+`)
)

// mostSpoken is of how many types the objects are listed of which the texts of one object speak.
const mostSpoken = 8

// meantBy are the objects of other kinds that a text means. A kind of one word counts only with the
// name of one behind it, as does the last word of a longer one. Asked are the types that were listed.
func (e dependencies) meantBy(ctx context.Context, text string, o *unstructured.Unstructured,
	asked map[graph.Type]bool) (all []*unstructured.Unstructured) {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`,;:()[]{}", r) })
	for i, word := range words {
		words[i] = strings.TrimRight(word, ".!?")
	}
	for _, r := range e.Catalog.Resources {
		if cluster.BuiltIn(r.Group) || r.Kind == o.GetKind() && r.Group == o.GroupVersionKind().Group ||
			len(asked) == mostSpoken && !asked[r.Type] {
			continue
		}
		parts, related := kindWords.FindAllString(r.Kind, -1), cluster.OfOneDomain(r.Group, o.GroupVersionKind().Group)
		behind := speaksOf(words, parts, r)
		spoken := len(parts) > 1 && behind != nil
		if !spoken && (!related || len(parts) == 0 || speaksOf(words, parts[len(parts)-1:], r) == nil) {
			continue
		}
		spoken = spoken && !beginsWithName(behind)
		asked[r.Type] = true
		named, beside, elsewhere := e.ofKind(ctx, r, words, o)
		if some := slices.Concat(beside, elsewhere); !related && !inOneWord(words, r) && len(some) > 0 &&
			!e.sameWriter(ctx, o, some[0]) {
			spoken = false // several words of common English, which mean no kind
		}
		switch {
		case len(named) > 0:
			all = append(all, named...)
		case spoken && len(beside) > 0:
			all = append(all, beside...)
		case spoken && goesFirst.MatchString(text):
			all = append(all, elsewhere...)
		}
	}
	return all
}

// ofKind are the objects of a type that some words name, those beside an object, and those elsewhere,
// for which is asked only where there are none beside it. Of a type that has many nothing is known.
func (e dependencies) ofKind(ctx context.Context, r cluster.Resource, words []string, o *unstructured.Unstructured) (
	named, beside, elsewhere []*unstructured.Unstructured) {
	in := []string{o.GetNamespace(), ""}
	if !r.Namespaced || o.GetNamespace() == "" {
		in = in[1:]
	}
	of := r.GroupResource()
	for _, namespace := range in {
		if counted(e.Graph, namespace)[of] > longestNaming {
			return named, beside, elsewhere
		}
		list, err := e.Reader.ListObjects(ctx, of, namespace, cluster.Selection{})
		if err != nil {
			return named, beside, elsewhere // and the reader has noted the gap
		}
		for _, by := range list {
			switch {
			case slices.Contains(words, by.GetName()) || slices.Contains(words, by.GetNamespace()+"/"+by.GetName()):
				named = append(named, by)
			case by.GetNamespace() == o.GetNamespace() || !r.Namespaced:
				beside = append(beside, by)
			default:
				elsewhere = append(elsewhere, by)
			}
		}
		if len(named)+len(beside) > 0 {
			break
		}
	}
	return named, beside, elsewhere
}

// noName are words behind a kind that are not the name of an object.
var noName = regexp.MustCompile(`^(?:already|and|are|as|at|be|been|being|but|by|can|cannot|could|depends?|does|exists?|first|for|from|had|has|` +
	`have|in|is|it|its|left|may|must|needs?|no|not|of|on|or|owns|refers?|references?|remains?|resources?|objects?|should|so|still|that|to|` +
	`until|uses?|was|were|when|which|while|will|with|yet)$`)

// sameWriter reports whether RBAC lets the same account write two objects, or only those who may write
// everything: one that speaks of objects of another program, as an operator of those that it installs.
func (e dependencies) sameWriter(ctx context.Context, one, other *unstructured.Unstructured) bool {
	of, _ := e.Actors.Permitted(ctx, one)
	also, _ := e.Actors.Permitted(ctx, other)
	return len(of.Accounts)+len(of.Unread) == 0 || slices.ContainsFunc(of.Accounts, func(p actor.Permitted) bool {
		return slices.ContainsFunc(also.Accounts, func(q actor.Permitted) bool { return p.Account == q.Account })
	})
}

// inOneWord reports whether a text has a kind as its definition spells it, or its plural.
func inOneWord(text []string, r cluster.Resource) bool {
	return slices.ContainsFunc(text, func(word string) bool {
		return word == r.Kind || word == r.Kind+"s" || word == r.Resource
	})
}

// beginsWithName reports whether the words behind a kind begin with the name of an object, perhaps with
// its namespace: what the text says is of that one only.
func beginsWithName(behind []string) bool {
	if len(behind) == 0 || noName.MatchString(behind[0]) {
		return false
	}
	namespace, name, both := strings.Cut(behind[0], "/")
	return validName(namespace) && (!both || validName(name))
}

// speaksOf returns what a text has behind the words of a kind one after the other, the last perhaps as
// of several, or behind the kind or its plural in one word; nil if it has neither.
func speaksOf(text, parts []string, r cluster.Resource) (behind []string) {
	for i := range text {
		if len(parts) > 1 && inOneWord(text[i:i+1], r) {
			return text[i+1:]
		}
		if i+len(parts) > len(text) {
			continue
		}
		same := true
		for j, part := range parts {
			part, said := strings.ToLower(part), strings.ToLower(text[i+j])
			same = same && (said == part || j == len(parts)-1 && slices.Contains([]string{part + "s", part + "es",
				strings.TrimSuffix(part, "y") + "ies"}, said))
		}
		if same && len(parts) > 0 {
			return text[i+len(parts):]
		}
	}
	return nil
}
