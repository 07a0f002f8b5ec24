package link

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Named is an end as a source names it. What the source does not say is empty.
type Named struct {
	// Group and Version are those of the apiVersion; the version is empty where only a group is
	// named. HasGroup is false where nothing says the group.
	Group, Version string
	HasGroup       bool
	Kind           string
	// Namespace is that of the source where the source names none; an end whose kind is
	// cluster-scoped has none all the same.
	Namespace, Name, UID string
	// Field is where it stands.
	Field string
	// Optional says that nothing is to be shown if it is not there.
	Optional bool
	// Category is one of discovery's that the kind has; empty for any.
	Category string
}

// CanBe reports whether an end can be of a kind that has some categories in discovery.
func (n Named) CanBe(categories []string) bool {
	return n.Category == "" || slices.Contains(categories, n.Category)
}

// Members are the ends that a source does not name one by one.
type Members struct {
	// Labels and Fields are the selectors that they match, as -l and --field-selector of kubectl have
	// them; where both are empty, they are all objects of the kinds.
	Labels, Fields string
	// NameSource says that Fields names the source: each end says itself whose it is.
	NameSource bool
	// Name is the name that they have; empty for any.
	Name string
	// Field is where it stands which kind they are of; empty where the pack says it.
	Field string
	// Kinds are those that are looked at.
	Kinds []graph.KindPattern
	// Category is one of discovery's that the kinds have; empty for any.
	Category string
	// Namespace is where; empty for everywhere.
	Namespace string
}

// CanBe reports whether an end can be of a kind that has some categories in discovery.
func (m Members) CanBe(group, kind string, categories []string) bool {
	return (m.Category == "" || slices.Contains(categories, m.Category)) &&
		slices.ContainsFunc(m.Kinds, func(k graph.KindPattern) bool { return k.Matches(group, kind) })
}

// maxEnds is how many ends an object may name by a link: what one names may be read, each by a
// request, and it is what its author says. The largest releases of Helm have some thousand objects.
const maxEnds = 5000

var errTooMany = fmt.Errorf("more than %d objects are named, and the others are not looked at", maxEnds)

// IsSource reports whether the link holds for an object of a kind that From matches.
func (d *Definition) IsSource(object map[string]any) bool { return AllMet(d.From.Where, object) }

// References returns the ends that an object names, and the selectors of those that it does not
// name one by one. An error says what could not be understood; the ends that could be come with it.
func (d *Definition) References(object map[string]any) ([]Named, []Members, error) {
	if !d.IsSource(object) {
		return nil, nil, nil
	}
	var named []Named
	var members []Members
	var errs []error
	for _, e := range d.Ends {
		if e.Form == Dependents {
			continue
		}
		if e.Form == Instances {
			found, err := e.instances(object)
			members = append(members, found...)
			errs = append(errs, err)
			continue
		}
		if e.Form == Labels {
			m, ok, err := e.members(object)
			if ok {
				members = append(members, m)
			}
			errs = append(errs, err)
			continue
		}
		found, err := e.named(object)
		named = append(named, found...)
		errs = append(errs, err)
	}
	return named, members, errors.Join(errs...)
}

// values returns what stands where an object names ends, decoded.
func (e Ends) values(object map[string]any) ([]any, error) {
	values := e.Field.all(object)
	if len(e.Decode) == 0 {
		return values, nil
	}
	var decoded []any
	for _, v := range values {
		text, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("%s is no text", e.Field)
		}
		value, err := decode(text, e.Decode)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Field, err)
		}
		decoded = append(decoded, e.In.all(value)...)
	}
	return decoded, nil
}

func (e Ends) named(object map[string]any) ([]Named, error) {
	values, err := e.values(object)
	if err != nil {
		return nil, err
	}
	namespace, filled := e.namespace(object)
	if !filled {
		return nil, nil
	}
	var all []Named
	var errs []error
	seen := map[Named]bool{}
	for _, v := range values {
		if reference, ok := v.(map[string]any); len(e.Where) > 0 && (!ok || !AllMet(e.Where, reference)) {
			continue
		}
		found, err := e.read(v)
		errs = append(errs, err)
		for _, n := range found {
			if len(all) == maxEnds {
				return all, errors.Join(append(errs, errTooMany)...)
			}
			if n.Name == "" || n.Kind == "" {
				continue // a reference that is not filled in yet
			}
			if !ofKinds(e.Kinds, n.Group, n.Kind) {
				continue
			}
			if n.Namespace == "" {
				n.Namespace = namespace
			}
			n.Field, n.Optional, n.Category = e.field().String(), e.Optional, e.Category
			if !seen[n] {
				seen[n] = true
				all = append(all, n)
			}
		}
	}
	return all, errors.Join(errs...)
}

var namespacePath = Path{[]string{"metadata", "namespace"}}

// read reads one value by the form.
func (e Ends) read(value any) ([]Named, error) {
	switch e.Form {
	case Manifest:
		text, ok := value.(string)
		if !ok {
			return nil, fmt.Errorf("%s is no text", e.Field)
		}
		return manifests(text)
	case Text:
		text, ok := value.(string)
		if !ok || text == "" {
			return nil, nil
		}
		n, err := e.fromText(text)
		return []Named{n}, err
	}
	return []Named{e.fromReference(value)}, nil
}

func (e Ends) fromReference(value any) Named {
	get := func(key string) string {
		path, given := e.Keys[key]
		if !given && e.ofSource() {
			return ""
		} else if !given {
			path = Path{[]string{key}}
		}
		text, _ := path.Text(value)
		return text
	}
	return e.fill(get)
}

func (e Ends) fromText(text string) (Named, error) {
	if e.Match == "" {
		return e.fill(func(key string) string {
			if key == "name" {
				return text
			}
			return ""
		}), nil
	}
	expression, err := regexp.Compile(e.Match) // a pack is checked when it is loaded, and this one is small
	if err != nil {
		return Named{}, err
	}
	groups := expression.FindStringSubmatch(text)
	if groups == nil {
		return Named{}, fmt.Errorf("%s has %q, which is not of the form %s", e.Field, text, e.Match)
	}
	n := e.fill(func(key string) string {
		if i := expression.SubexpIndex(key); i >= 0 {
			return groups[i]
		}
		return ""
	})
	if expression.SubexpIndex("group") >= 0 {
		n.HasGroup = true
	}
	for old, by := range e.Replace {
		n.Name = strings.ReplaceAll(n.Name, old, by)
	}
	return n, nil
}

// field is where the ends stand, as people look for it: of a source that is the reference itself,
// where the name is.
func (e Ends) field() Path {
	if e.Field.IsZero() {
		return e.Keys["name"]
	}
	return e.Field
}

// ofKinds reports whether a kind is one of some; of none any is.
func ofKinds(kinds []graph.KindPattern, group, kind string) bool {
	return len(kinds) == 0 || slices.ContainsFunc(kinds, func(k graph.KindPattern) bool { return k.Matches(group, kind) })
}

// CanBe reports whether an end can be of a kind, as far as the link says.
func (e Ends) CanBe(group, kind string) bool {
	if len(e.Kinds) > 0 || e.Kind == "" || e.Form == Reference && (!e.ofSource() || !e.Keys["kind"].IsZero()) {
		return ofKinds(e.Kinds, group, kind)
	}
	return e.Kind.Matches(group, kind)
}

// ofSource reports whether a reference is the source itself, so that it says of its end what Keys
// have, and of what Kind is: what the source is says nothing of the end.
func (e Ends) ofSource() bool {
	return e.Field.IsZero() && e.Kind != "" && !strings.HasPrefix(string(e.Kind), anyGroup+"/")
}

// anyGroup in the place of a group means that of the apiVersion.
const anyGroup = "*"

// endKind returns the group, empty for the core, and the kind of the ends where the link says it.
func (e Ends) endKind() (group, kind string, given bool) {
	group, kind, given = strings.Cut(string(e.Kind), "/")
	if group == "v1" {
		group = ""
	}
	return group, kind, given
}

// fill makes an end of what is found by key, and of the kind that the definition gives.
func (e Ends) fill(get func(key string) string) Named {
	n := Named{Kind: get("kind"), Name: get("name"), Namespace: get("namespace"), UID: get("uid")}
	switch apiVersion, group := get("apiVersion"), get("group"); {
	case apiVersion != "":
		n.setAPIVersion(apiVersion)
	case group != "" || n.Kind != "" && e.Kind == "":
		// Of a reference that has a kind and no group, the group is that of the core: Argo CD and
		// Cluster API leave it out.
		n.Group, n.HasGroup = group, true
	}
	if group, kind, given := e.endKind(); given && (n.Kind == "" || !n.HasGroup) {
		n.Kind = cmp.Or(n.Kind, kind)
		if group != anyGroup {
			n.Group, n.HasGroup = group, true
		}
	}
	return n
}

func (n *Named) setAPIVersion(apiVersion string) {
	n.HasGroup = true
	if before, after, ok := strings.Cut(apiVersion, "/"); ok {
		n.Group, n.Version = before, after
		return
	}
	n.Version = apiVersion
}
