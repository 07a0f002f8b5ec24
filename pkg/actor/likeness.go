package actor

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// likeness is how a workload was recognised as a component's, the surest way first.
type likeness int

const (
	byName likeness = iota // it has the name that the pack gives it
	// with the name of a Helm release before or behind it, and its image or a label says the same
	byRelease
	byImage
	byLabel   // app.kubernetes.io/name, or other labels that come to the same
	byProduct // it is a part of it; which part is not known
	unlike
)

// said is what follows the name of a workload in a sentence.
func (l likeness) said() string {
	return map[likeness]string{
		byRelease: " (recognised by its name and its image or labels)", byImage: " (recognised by its image)",
		byLabel:   " (recognised by its labels)",
		byProduct: " (a part of it, by its labels)",
	}[l]
}

// features are what the workloads of a component are recognised by, wherever they are.
type features struct {
	// names are patterns of names, and homes the namespaces in which they normally are, "*" for
	// any.
	names, homes []string
	// images are paths of repositories, and labels selectors that no server need be asked about.
	images []string
	// slugs are what its labels may call it, in the form of slug.
	slugs []string
}

// featuresOf returns what the workloads of a search's component are recognised by.
func featuresOf(s *search) features {
	f := features{images: s.alive.Images}
	for _, t := range workloadTypes {
		for _, pattern := range t.names(s.alive) {
			home, name, _ := strings.Cut(pattern, "/")
			f.names, f.homes = append(f.names, name), append(f.homes, home)
			if !wild(name) && !generic(name) {
				f.slugs = append(f.slugs, slug(name))
			}
		}
	}
	if word := slug(s.known.Component); len(word) > 2 && !slices.Contains(f.slugs, word) {
		f.slugs = append(f.slugs, word)
	}
	return f
}

// words are what a workload was looked for by, for use in a sentence.
func (f features) words(component string) []string {
	var all []string
	for _, word := range slices.Concat(f.names, f.images, []string{component}) {
		if !generic(word) && !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	return all
}

// of returns how a workload is recognised.
func (f features) of(w cluster.Workload) likeness {
	image := f.image(w)
	product := f.labelled(w, func(l map[string]string) []string { return []string{l["app.kubernetes.io/part-of"]} })
	label := f.labelled(w, func(l map[string]string) []string {
		name, component, of := l["app.kubernetes.io/name"], l["app.kubernetes.io/component"], l["app.kubernetes.io/part-of"]
		if f.another(component) {
			return nil
		}
		all := []string{name, l["app"], l["k8s-app"]}
		if component != "" {
			all = append(all, name+component, of+component)
			if !generic(component) {
				all = append(all, component)
			}
		}
		return all
	})
	for i, name := range f.names {
		if ok, err := path.Match(name, w.Name); err != nil || !ok {
			continue
		}
		if !generic(name) || image || label || product || atHome(w, f.homes[i]) {
			return byName
		}
	}
	for _, name := range f.names {
		if wild(name) || !strings.HasPrefix(w.Name, name+"-") && !strings.HasSuffix(w.Name, "-"+name) {
			continue
		}
		if image || label || product && !generic(name) {
			return byRelease
		}
	}
	switch {
	case image:
		return byImage
	case label:
		return byLabel
	case product:
		return byProduct
	}
	return unlike
}

// another reports whether the part of a product that a workload is, by its label, is another
// operator: Bitnami's chart calls the topology operator of RabbitMQ rabbitmq-cluster-operator too.
// A part with the component's own name, as the rollouts-controller of Argo Rollouts, is not
// another.
func (f features) another(part string) bool {
	short := slug(otherPart.ReplaceAllString(part, ""))
	return otherPart.MatchString(part) && !generic(part) && !slices.ContainsFunc(f.slugs, func(word string) bool {
		return strings.Contains(word, short) || strings.Contains(short, word)
	})
}

var otherPart = regexp.MustCompile(`-(operator|controller|manager)$`)

// image reports whether one of a workload's images is the component's: one that the pack names, or
// one that is called like the workload, or like the component.
func (f features) image(w cluster.Workload) bool {
	for _, image := range w.Images {
		of := repository(image)
		for _, known := range f.images {
			if of == known || strings.HasSuffix(of, "/"+known) {
				return true
			}
		}
		last := slug(path.Base(of))
		for _, word := range f.slugs {
			if last == word || last == word+"controller" || last == word+"operator" || last == word+"manager" {
				return true
			}
		}
	}
	return false
}

func (f features) labelled(w cluster.Workload, values func(map[string]string) []string) bool {
	for _, set := range []map[string]string{w.Labels, w.PodLabels} {
		if slices.ContainsFunc(values(set),
			func(value string) bool { return value != "" && slices.Contains(f.slugs, slug(value)) }) {
			return true
		}
	}
	return false
}

// atHome reports whether all the words of a namespace's name are in a workload's labels or images:
// the controller of knative-serving runs knative.dev/serving.
func atHome(w cluster.Workload, home string) bool {
	words := strings.Split(strings.TrimSuffix(home, "-system"), "-")
	if wild(home) || slices.Contains([]string{"kube", "default"}, words[0]) {
		return false
	}
	said := map[string]bool{}
	read := func(text string) {
		for _, word := range strings.FieldsFunc(strings.ToLower(text),
			func(r rune) bool { return strings.ContainsRune("/.-_:@", r) }) {
			said[word] = true
		}
	}
	for _, image := range w.Images {
		read(repository(image))
	}
	for _, set := range []map[string]string{w.Labels, w.PodLabels} {
		for _, value := range set {
			read(value)
		}
	}
	return !slices.ContainsFunc(words, func(word string) bool { return !said[word] })
}

// repository returns the path of an image's repository: without registry, tag and digest.
func repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if first, rest, ok := strings.Cut(image, "/"); ok && (strings.ContainsAny(first, ".:") || first == "localhost") {
		image = rest
	}
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		image = image[:i]
	}
	return image
}

// slug writes a name as one word, so that "Cloud Native PG" and cloud-native-pg are the same.
func slug(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, name)
}

// genericWords are words that names of many programs are made of.
var genericWords = map[string]bool{
	"controller": true, "controllers": true, "manager": true, "operator": true, "operators": true, "webhook": true,
	"server": true, "apiserver": true, "agent": true, "client": true,
	"leader": true, "election": true, "elect": true, "lock": true, "lease": true, "id": true, "main": true,
	"admission": true, "cleanup": true, "node": true, "driver": true,
	"provisioner": true, "attacher": true, "helper": true, "system": true,
}

// generic reports whether a name is one that many programs have, so that it alone says nothing.
func generic(name string) bool {
	return !slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-*._", r) }),
		func(word string) bool { return !genericWords[word] })
}

// ByItsName begins a clause about a workload that is called like a finalizer which no pack knows.
const ByItsName = "by its name it may belong to this: "

// maxNamesakes is how many workloads are named.
const maxNamesakes = 3

// namesakes finds the Deployments that are called like the domain of a finalizer, as cert-manager
// is like acme.cert-manager.io, and says which of them may not write the object. It is a hint for a
// person to follow, and no sign of life. Only is the one that there is, or of several the one that has
// most words of the whole finalizer in its name and images; nil if there is no such one.
func (f *Finder) namesakes(ctx context.Context, about *unstructured.Unstructured, domain, finalizer string) (
	says []string, only *unstructured.Unstructured) {
	word := wordOf(domain)
	if word == "" {
		return nil, nil
	}
	r, served := f.reader.Lookup(cluster.Deployments)
	if !served {
		return nil, nil
	}
	var refs []graph.Ref
	if err := f.reader.ForEachMeta(ctx, r.Type, func(o *graph.Object) {
		if strings.Contains(o.Name, word) || strings.Contains(o.Namespace, word) {
			refs = append(refs, graph.Ref{Namespace: strings.Clone(o.Namespace), Name: strings.Clone(o.Name)})
		}
	}); err != nil {
		return nil, nil // it is a hint
	}
	most := 0
	for _, ref := range refs[:min(len(refs), maxNamesakes)] {
		o, err := f.reader.GetObject(ctx, cluster.Deployments, ref.Namespace, ref.Name)
		if err != nil || o == nil {
			continue
		}
		clause := ByItsName + ReadWorkload(o).Says
		if may := f.Forbidden(ctx, about, Actor{Life: Alive, Workloads: []*unstructured.Unstructured{o}}); may.Concluded {
			clause += "; " + may.Evidence[0].Says
		}
		says = append(says, clause)
		switch like := CalledLike(o, finalizer, about.GetKind()); {
		case len(refs) == 1 || like > most:
			only, most = o, like
		case like == most:
			only = nil
		}
	}
	if more := len(refs) - maxNamesakes; more > 0 {
		only = nil
		says = append(says, fmt.Sprintf("%s more of such a name", phrase.Count(more, "Deployment")))
	}
	return says, only
}

// wordOf is the part of a domain that names a project: the one before the last, or before an umbrella.
// Those that many projects share name none.
func wordOf(domain string) string {
	parts := strings.Split(domain, ".")
	if len(parts) < 2 {
		return ""
	}
	word := parts[len(parts)-2]
	if slices.Contains(umbrellas, word) && len(parts) > 2 {
		word = parts[len(parts)-3]
	}
	if len(word) < shortestWord || slices.Contains(sharedWords, word) || word == "cluster" {
		return ""
	}
	return word
}

// umbrellas are domains below which each project has one of its own: flink.apache.org, kueue.x-k8s.io.
var umbrellas = []string{"apache", "x-k8s"}

// shortestWord is how long a word of a finalizer must be to name a program: org is not.
const shortestWord = 4

// sharedWords are in the finalizers of many programs.
var sharedWords = []string{
	"kubernetes", "x-k8s", "example", "github", "services", "finalizer", "finalizers", "protection",
	"resource", "resources",
}

// CalledLike is how many words of a finalizer of objects of some kind are in the name and the images
// of a workload. The kind tells nothing: other programs for it are called like that as well.
func CalledLike(w *unstructured.Unstructured, finalizer, kind string) int {
	path := []string{"spec", "template", "spec", "containers"}
	if w.GetKind() == "Pod" {
		path = []string{"spec", "containers"}
	}
	called := slug(w.GetName())
	kind = slug(kind)
	containers, _, _ := unstructured.NestedSlice(w.Object, path...)
	for _, c := range containers {
		m, _ := c.(map[string]any)
		called += " " + slug(repository(status.Text(m, "image")))
	}
	var has []string
	for _, word := range strings.FieldsFunc(finalizer, func(r rune) bool { return strings.ContainsRune("./-_", r) }) {
		word = slug(word)
		if len(word) >= shortestWord && !genericWords[word] && !slices.Contains(sharedWords, word) &&
			!strings.Contains(kind, word) && !strings.Contains(word, kind) && !slices.Contains(has, word) &&
			strings.Contains(called, word) {
			has = append(has, word)
		}
	}
	return len(has)
}
