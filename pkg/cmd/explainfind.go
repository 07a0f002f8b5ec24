package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// find returns what is known of the finalizers that were named, or of all of a component. The error names all of which nothing is known.
func (f *explainFlags) find(known *finalizer.Registry, names []string) ([]v1alpha1.ExplainedFinalizer, error) {
	if f.component != "" {
		if err := f.checkComponent(known); err != nil {
			return nil, err
		}
	}
	found := []v1alpha1.ExplainedFinalizer{}
	if len(names) == 0 {
		for _, pack := range known.Packs() {
			for _, k := range pack.Finalizers {
				if f.isOf(k) {
					found = append(found, explained(k.Form(), k))
				}
			}
		}
		slices.SortStableFunc(found, func(a, b v1alpha1.ExplainedFinalizer) int { return strings.Compare(sortKey(a.Name), sortKey(b.Name)) })
		return found, nil
	}
	var errs []error
	for _, name := range names {
		all := slices.DeleteFunc(known.Named(name), func(k finalizer.Known) bool { return !f.isOf(k) })
		if len(all) == 0 {
			errs = append(errs, withHint(fmt.Errorf("nothing is known of the finalizer %q", name), nearFinalizers(known, name)))
		}
		for _, k := range all {
			found = append(found, explained(name, k))
		}
	}
	return found, errors.Join(errs...)
}

// sortKey is the name of a finalizer without what regular expressions and open beginnings put in front.
func sortKey(name string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimLeft(name, "^*(/["), `\`, ""))
}

// isOf says whether an entry is of the component that was named, if one was.
func (f *explainFlags) isOf(k finalizer.Known) bool {
	word := strings.ToLower(f.component)
	return strings.Contains(strings.ToLower(k.Component), word) || strings.Contains(strings.ToLower(k.Actor), word)
}

func (f *explainFlags) checkComponent(known *finalizer.Registry) error {
	for _, pack := range known.Packs() {
		if slices.ContainsFunc(pack.Finalizers, f.isOf) {
			return nil
		}
	}
	hint := newSuggestions(f.component)
	for _, name := range known.Components() {
		hint.consider(name)
		for _, word := range strings.Fields(name) {
			hint.consider(word)
		}
	}
	return withHint(fmt.Errorf("no component is known whose name has %q in it", f.component), hint.hint())
}

// nearFinalizers suggests which known finalizer was meant: one that is spelt nearly so, or else one of which this is a part.
func nearFinalizers(known *finalizer.Registry, name string) string {
	hint := newSuggestions(name)
	var containing []string
	for _, form := range known.Forms() {
		hint.consider(form)
		if strings.Contains(strings.ToLower(form), strings.ToLower(name)) && len(containing) < mostNear {
			containing = append(containing, form)
		}
	}
	if text := hint.hint(); text != "" || len(containing) == 0 {
		return text
	}
	return "did you mean " + strings.Join(containing, " or ") + "?"
}

// completeFinalizers completes the names of finalizers; of a form, what it begins with.
func (f *explainFlags) completeFinalizers(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	known, err := f.known()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := slices.DeleteFunc(known.Forms(), func(form string) bool {
		return !strings.HasPrefix(form, word) || strings.ContainsAny(form, "^*") || slices.Contains(args, form)
	})
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (f *explainFlags) completeComponents(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	known, err := f.known()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := slices.DeleteFunc(known.Components(), func(name string) bool {
		return !strings.HasPrefix(strings.ToLower(name), strings.ToLower(word))
	})
	return names, cobra.ShellCompDirectiveNoFileComp
}
