// Package protect is the command kubectl gc protect.
package protect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/protect"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// Options are the flags and arguments of kubectl gc protect.
type Options struct {
	*env.Env
	Objects env.Objects
	Args    []string
	// Except are the values of --except-user.
	Except []string
	// Check asks the server whether the policies hold.
	Check bool
}

// New returns the command protect, which calls runF with its options; nil runs it.
func New(e *env.Env, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Env: e}
	cmd := &cobra.Command{
		Use:        "protect (TYPE/NAME ... | TYPE NAME ... | -f FILENAME)",
		Short:      "Print policies that deny what would delete an object",
		SuggestFor: []string{"guard", "lock"},
		Long: `Print a ValidatingAdmissionPolicy with its binding for each object. Nothing is applied.

The policy denies the deletion of the object, and of everything whose deletion would delete it:
owners up to the top, its namespace, its CRD, and what names it in a link that a program follows. An
object with two owners stays when one of them is deleted, and that is not denied. Where dependents
that are orphaned save the object, --cascade=orphan is not denied.

Objects are meant by their uids: a new object of the same name is free. The garbage collector, the
namespace controller and the API server are never denied, nor is a deletion that has begun. The
annotation gc.kubectl.dev/allow-deletion on the object that is to be deleted lifts the policy, and
--except-user names who may delete. The policies need Kubernetes 1.30 or later. They say nothing of
evictions, of a finalizer that is removed, nor of their own deletion.

--check asks the server, with dry runs, whether it denies each of these deletions, and that of a
neighbour not. Exit code 2 means that it does not, that something above an object could not be
listed and is not guarded, or that it is being deleted already.`,
		Example: `  # Nothing is to delete the database
  kubectl gc protect pvc/data-db-0 -n shop | kubectl apply -f -

  # Do the policies hold?
  kubectl gc protect pvc/data-db-0 -n shop --check`,
		RunE:              env.RunE(o, o.validate, runF, run),
		ValidArgsFunction: e.CompleteObjects,
	}
	o.Objects.AddFlags(cmd)
	cmd.Flags().StringSliceVar(&o.Except, "except-user", nil, "Names of users who may delete the objects")
	cmd.Flags().BoolVar(&o.Check, "check", false, "Ask the server whether the policies hold, with dry runs")
	o.AddPacks(cmd)
	return cmd
}

func (o *Options) validate(cmd *cobra.Command, args []string) error {
	o.Args = args
	if !o.Objects.Named(args) {
		return env.Usage(cmd, "name the objects to protect: TYPE/NAME, TYPE NAME or -f FILENAME")
	}
	if err := o.Objects.Validate(cmd, args); err != nil {
		return err
	}
	return o.CheckPacks()
}

func run(ctx context.Context, o *Options) error {
	links, err := o.Links()
	if err != nil {
		return err
	}
	q, err := o.Query(ctx, &o.Objects, o.Args)
	if err != nil {
		return err
	}
	p, err := protect.Find(ctx, q, links, o.Except)
	if err != nil {
		return err
	}
	render.WarnGaps(o.ErrOut, p.Gaps)
	for _, ref := range p.Unguarded {
		fmt.Fprintf(o.ErrOut, "Warning: the deletion of %s cannot be denied: the server asks no policy about it\n",
			render.Escape(ref.Located()))
	}
	for _, ref := range p.Lost {
		fmt.Fprintf(o.ErrOut, "Warning: %s is being deleted already, and no policy keeps what goes with it\n",
			render.Escape(ref.Located()))
	}
	if o.Check {
		err = o.check(ctx, p)
	} else {
		err = o.Print(ctx, func() error { return print(o.Out, p) })
	}
	switch {
	case err != nil:
		return err
	case len(p.Lost) > 0:
		return answer.Refuse(errors.New("not everything can be kept: something is being deleted already"))
	case len(p.Gaps)+len(p.Unguarded) > 0:
		return answer.Refuse(errors.New("incomplete: something above the objects may not be guarded"))
	}
	return nil
}

// print prints the policies as documents of YAML, each after what it denies.
func print(w io.Writer, p *protect.Protection) error {
	var out bytes.Buffer
	for _, policy := range p.Policies {
		fmt.Fprintf(&out, "# %s is protected: the deletion of these is denied.\n", render.Escape(policy.Object.Located()))
		for _, guard := range policy.Guards {
			but := ""
			if !guard.Orphan {
				but = ", but with --cascade=orphan"
			}
			fmt.Fprintf(&out, "#   %s%s\n", render.Escape(guard.Located()), but)
		}
		for _, manifest := range policy.Manifests() {
			text, err := yaml.Marshal(manifest)
			if err != nil {
				return err
			}
			fmt.Fprintf(&out, "---\n%s", text)
		}
	}
	_, err := out.WriteTo(w)
	return err
}

// check prints what the server answers, and refuses if that is not what it has to be.
func (o *Options) check(ctx context.Context, p *protect.Protection) error {
	done := o.Doing("asking the server what it denies")
	checked, err := p.Check(ctx)
	done()
	if err != nil {
		return err
	}
	wrong := 0
	for _, c := range checked {
		says := map[bool]string{true: "denied", false: "allowed"}[c.Denied]
		if c.Err != nil {
			says = "not known: " + phrase.EscapeLines(c.Err.Error())
		}
		what := "has to be denied"
		if !c.Guard {
			what = "has to be allowed"
		}
		if !c.Holds() {
			wrong++
			says += ", and " + what
		}
		if _, err := fmt.Fprintf(o.Out, "%s: %s\n", render.Escape(c.Located()), says); err != nil {
			return err
		}
	}
	if wrong > 0 {
		return answer.Refuse(fmt.Errorf("%d of %s are not answered as they have to be", wrong, phrase.Count(len(checked), "deletion")))
	}
	return nil
}
