package render

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// signWords says where a component normally runs, a sign each.
func signWords(s *v1alpha1.Signs) []string {
	if s == nil {
		return nil
	}
	var all []string
	for _, sign := range []struct {
		word  string
		names []string
	}{
		{"Deployment", s.Deployments}, {"StatefulSet", s.StatefulSets}, {"DaemonSet", s.DaemonSets}, {"label", s.Labels},
		{"image", s.Images},
		{"Lease", s.Leases}, {"APIService", s.APIServices}, {"webhook configuration", s.Webhooks},
	} {
		for _, name := range sign.names {
			text := sign.word + " " + inNamespace(sign.word, name)
			if slices.Contains(s.Unverified, name) {
				text += " (not checked)"
			}
			all = append(all, text)
		}
	}
	if s.SameNamespace {
		all = append(all, "only the one in the object's namespace is responsible")
	}
	if s.SameLabel != "" {
		all = append(all, "only the one whose label "+s.SameLabel+" has the value that the object's has is responsible")
	}
	switch {
	case s.Follow == "definition":
		all = append(all, "found through the owners of the CustomResourceDefinition of the object's type")
	case s.Outside:
		all = append(all, "outside the cluster, always or usually, so not seeing it means nothing")
	}
	if len(all) == 0 {
		all = append(all, "no sign of it is known")
	}
	return append(all, s.Note)
}

// inNamespace words namespace/name; other signs have none.
func inNamespace(word, name string) string {
	switch word {
	case "Deployment", "StatefulSet", "DaemonSet", "Lease":
	case "label":
		return strings.ReplaceAll(name, ",", " and ")
	default:
		return name
	}
	// A placeholder may have a slash in its key.
	namespace, rest, _ := strings.Cut(name, "/")
	switch namespace {
	case "*":
		return rest + " in any namespace"
	case "{namespace}":
		return rest + " in the object's namespace"
	}
	return rest + " in " + namespace
}

func pauseWords(pauses []v1alpha1.PausedBy) []string {
	var all []string
	for _, p := range pauses {
		var text string
		switch {
		case p.Annotation != "":
			text = "annotation " + p.Annotation
		case p.Label != "":
			text = "label " + p.Label
		default:
			text = p.Field
		}
		if p.Value != "" {
			text += ": " + p.Value
		} else {
			text += ", with any value"
		}
		all = append(all, text)
	}
	return all
}

// needWords says what an actor needs, and which fields of the object name it.
func needWords(needs []v1alpha1.RelatedKind) []string {
	var all []string
	for _, r := range needs {
		text := cmp.Or(r.Kind, "the kind that "+r.KindField+" says")
		if r.Kind != "" && r.KindField != "" {
			text += ", or the kind that " + r.KindField + " says,"
		}
		text += ofGroup(r.Group)
		switch {
		case r.NameField != "" && r.Name != "":
			text += ", named by " + r.NameField + " (" + r.Name + " if empty)"
		case r.NameField != "":
			text += ", named by " + r.NameField
		default:
			text += " " + r.Name
		}
		text += inScope(r) + onlyIf(r.Where)
		all = append(all, text)
		for _, of := range needWords(r.Needs) {
			all = append(all, "of that "+cmp.Or(r.Kind, "object")+": "+of)
		}
	}
	return all
}

// takeWords says which objects the actor works on.
func takeWords(takes []v1alpha1.Takes) []string {
	var all []string
	for _, t := range takes {
		text := "objects where " + phrase.And(t.Where)
		if t.Of != nil {
			text += ", in the " + needWords([]v1alpha1.RelatedKind{*t.Of})[0]
		}
		if t.IfAbsent {
			text += ", or where that does not exist"
		}
		if t.Until != "" {
			text += " (before " + t.Until + ")"
		}
		all = append(all, text)
	}
	return all
}

// heldWords says what keeps the actor, and for what it waits.
func heldWords(holds []v1alpha1.HeldBy) []string {
	var all []string
	for _, h := range holds {
		text := h.By + ": it " + strings.NewReplacer("{held}", "…", "{actor}", "it").Replace(h.Waits)
		text += onlyIf(h.Where)
		for _, n := range h.UnlessDeleted {
			text += ", unless the " + n.Kind + ofGroup(n.Group) + " at " + n.NameField + " is being deleted"
		}
		all = append(all, text)
	}
	return all
}

// useWords says what uses an object, and which of its fields name the object.
func useWords(uses []v1alpha1.RelatedKind) []string {
	var all []string
	for _, r := range uses {
		text := r.Kind + ofGroup(r.Group) + " whose " + r.NameField + " is the name of the object"
		if r.Name != "" {
			text += " (" + r.Name + " if empty)"
		}
		text += inScope(r) + onlyIf(r.Where)
		all = append(all, text)
	}
	return all
}

func onlyIf(where []string) string {
	if len(where) == 0 {
		return ""
	}
	return ", if " + phrase.And(where)
}

func ofGroup(group string) string {
	switch group {
	case "":
		return ""
	case "{group}":
		return " of the object's own group"
	case "{domain}":
		return " of the object's group without its first label"
	}
	return " of " + group
}

func inScope(r v1alpha1.RelatedKind) string {
	switch r.Scope {
	case "same-namespace":
		return ", in the same namespace"
	case "field":
		return ", in the namespace that " + r.NamespaceField + " names"
	}
	return ""
}

func parentWords(p v1alpha1.RelatedKind) string {
	text := p.Kind + " " + p.Name + ofGroup(p.Group)
	if len(p.Selectors) > 0 {
		text += ", as long as it selects the object (" + strings.Join(p.Selectors, ", ") + ")"
	}
	return text
}
