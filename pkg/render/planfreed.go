package render

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// remarkFreed sums up what no longer holds or asks for something.
func (p Plan) remarkFreed() []remark {
	f := p.Freed
	if f == nil {
		return nil
	}
	var parts []string
	if len(f.Requests) > 0 {
		parts = append(parts, strings.Join(requestTexts(f.Requests), ", ")+" requested by "+phrase.Count(f.Pods, "pod"))
	}
	for _, s := range f.Storage {
		parts = append(parts, storageText(s))
	}
	if len(f.DNSNames) > 0 {
		names := phrase.Words(f.DNSNames, func(name string) string { return cut(name, maxOutside) })
		parts = append(parts, phrase.Count(len(names), "DNS name")+" ("+few(names)+")")
	}
	if f.Certificates > 0 {
		parts = append(parts, phrase.Count(f.Certificates, "certificate"))
	}
	switch n := len(f.Unread); {
	case len(parts) == 0 && len(p.UnreadNaming) == 0: // other remarks are about pods and volumes that were not read
		return nil
	case len(parts) == 0:
		return []remark{{text: "it is unknown what this frees: " + phrase.Count(n, "object") + " could not be read"}}
	case n > 0:
		parts = append(parts, phrase.Count(n, "more object")+" could not be read")
	}
	frees := "frees "
	if len(p.Gaps) > 0 {
		frees += "at least "
	}
	return []remark{{text: Escape(frees + strings.Join(parts, "; "))}}
}

// requestTexts are requests in words, cpu and memory first: "2500m cpu".
func requestTexts(of map[string]string) []string {
	names := slices.Sorted(maps.Keys(of))
	first := func(name string) bool { return name == "cpu" || name == "memory" }
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case first(a) == first(b):
			return strings.Compare(a, b)
		case first(a):
			return -1
		}
		return 1
	})
	return phrase.Words(names, func(name string) string { return of[name] + " " + name })
}

// storageText says what becomes of the volumes of a storage class.
func storageText(s v1alpha1.FreedStorage) string {
	of := phrase.Count(s.Volumes, "volume") + " without a storage class"
	if s.StorageClass != "" {
		of = phrase.Count(s.Volumes, "volume") + " of storage class " + s.StorageClass
	}
	var becomes []string
	if s.Destroyed != "" {
		becomes = append(becomes, s.Destroyed+" destroyed")
	}
	if s.Kept != "" {
		becomes = append(becomes, s.Kept+" kept")
	}
	if len(becomes) == 0 {
		return of
	}
	return of + " (" + strings.Join(becomes, ", ") + ")"
}

// maxOutside is how many columns of the name of a thing outside the cluster are written: an annotation
// can be long.
const maxOutside = 160

// remarkOutside names the things outside the cluster for which deleted objects stand, by what they
// are.
func (p Plan) remarkOutside() []remark {
	type key struct {
		is    string
		stays bool
	}
	var all []remark
	for of, things := range groups(p.Outside, func(o v1alpha1.Outside) (key, v1alpha1.Outside) {
		return key{o.Is, o.Stays}, o
	}) {
		stays := ""
		if of.stays {
			stays = phrase.Plural(len(things), ", which stays", ", which stay")
		}
		names := phrase.Words(things, func(o v1alpha1.Outside) string { return cut(o.Name, maxOutside) })
		r := remark{text: Escape("outside the cluster: " + phrase.Count(len(things), of.is) +
			" (" + few(names) + ")" + stays)}
		for _, o := range things {
			r.objects = append(r.objects, o.Object)
		}
		all = append(all, r)
	}
	if n := len(p.UnreadOutside); n > 0 {
		what := "object"
		if len(all) > 0 {
			what = "more object"
		}
		all = append(all, remark{text: "outside the cluster: " + phrase.Count(n, what) + " could not be read",
			objects: p.Graph.Refs(p.UnreadOutside)})
	}
	return all
}
