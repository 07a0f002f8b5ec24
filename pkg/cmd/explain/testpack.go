package explain

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// testPack prints the links that packs find in objects, and compares them with those that are
// expected.
func (o *Options) testPack(ctx context.Context, test *v1alpha1.LinkTest) error {
	want, given, err := explain.ExpectedLinks(o.TestPack)
	if err != nil {
		return fmt.Errorf("reading the links that are expected: %w", err)
	}
	diff := ""
	if given {
		var got strings.Builder
		if err := render.LinkTest(&got, test, render.Style{}); err != nil {
			return err
		}
		diff = explain.Diff(want, got.String())
		test.Differs = diff != ""
	}
	if err := o.Print(ctx, func() error { return o.printTest(test) }); err != nil {
		return err
	}
	if len(test.Unreached) > 0 {
		render.Warn(o.ErrOut, "no object has a link of %s", strings.Join(test.Unreached, ", "))
	}
	unread := slices.ContainsFunc(test.Sources, func(s v1alpha1.LinkSource) bool { return len(s.Errors) > 0 })
	switch {
	case test.Differs:
		fmt.Fprint(o.ErrOut, diff)
		file := filepath.Join(o.TestPack, explain.LinksFile)
		return answer.Refuse(answer.WithHint(fmt.Errorf("the links are not those of %s", file),
			"if they are right, write the output of this command to that file"))
	case unread && !given:
		return answer.Refuse(errors.New("what some objects contain could not be understood"))
	}
	return nil
}

func (o *Options) printTest(test *v1alpha1.LinkTest) error {
	if !o.Output.IsOwn() {
		return o.Output.Write(o.Out, test)
	}
	return render.LinkTest(o.Out, test, o.Style(o.Output))
}

// completeFinalizers completes the names of finalizers; of a form, what it begins with.
func (o *Options) completeFinalizers(_ *cobra.Command, args []string, word string) ([]string,
	cobra.ShellCompDirective) {
	known, err := o.Known()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := slices.DeleteFunc(known.Forms(), func(form string) bool {
		return !strings.HasPrefix(form, word) || strings.ContainsAny(form, "^*") || slices.Contains(args, form)
	})
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (o *Options) completeComponents(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	known, err := o.Known()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := slices.DeleteFunc(known.Components(), func(name string) bool {
		return !strings.HasPrefix(strings.ToLower(name), strings.ToLower(word))
	})
	return names, cobra.ShellCompDirectiveNoFileComp
}
