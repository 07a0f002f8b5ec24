package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

func newDelete(c *common) *cobra.Command {
	f := &deleteFlags{common: c, output: newOutputFlags("wide", "name")}
	cmd := &cobra.Command{
		Use:   "delete ([-f FILENAME] | TYPE [(NAME | -l label | --all)])",
		Short: "Show what a deletion takes with it, do it, and wait for the whole cascade",
		Long: `Delete objects as kubectl delete does, with its flags, and see beforehand what else goes.

It prints the plan: which objects go, in which wave, with which policy the collector deletes them; which stay,
because another object owns them too; which lose a reference; and what holds it up. Then it asks, on a terminal;
without one it needs --yes, which deletes without showing the plan first. Every delete carries the uid of the object that the plan is about, so an object that was
created again under the same name is never touched. It waits until the whole cascade is gone, not only the objects named.

What may not be deleted for lack of rights is in the plan, and then nothing is deleted at all: half a plan is not the plan.
If something could not be listed in which a dependent can be hidden, the plan says "at least", and the deletion needs
--allow-incomplete.

--archive FILE saves what the plan deletes or changes, whole, right before the first delete: the plan first, then the objects,
owners before dependents, as YAML documents. The file holds their secrets and is for its owner alone (0600). It is complete or not there: if an
object cannot be read, or the file not be written, nothing is deleted; a file that exists is never overwritten. An object that you name is not
deleted if it was changed after it was archived; only its status may differ. Its dependents are archived as they are before the first delete. The cluster's
collector can also delete dependents that are created later, and a warning names those that were seen. kubectl apply -f
reports the plan, whose kind no server knows, and creates the objects with new uids, under which owners and dependents no longer
belong together: the collector deletes such dependents.

--gc=client deletes and changes only the objects of the plan, with --archive only those in the archive. Dependents that are created later are left alone and named.

The wait watches what is deleted. Without permission to watch it lists every two seconds, without permission to list it reads each object, and what
cannot be read either is named in a warning and not waited for.

Exit code 2 means that nothing was deleted because it was refused, that an object was left alone because it is not in the plan, or that something is still
there after --timeout.`,
		Example: `  # What would go with this deployment?
  kubectl gc delete deployment/web --dry-run=client

  # Delete it, and return when its pods are gone too
  kubectl gc delete deployment/web --cascade=foreground --yes

  # The same, also for dependents that do not block their owner
  kubectl gc delete widget/engine --cascade=foreground --strict --yes

  # Give no pod of the cascade more than 5 seconds
  kubectl gc delete deployment/web --grace-period=5 --propagate-grace-period --yes

  # Leave the pods running
  kubectl gc delete deployment/web --cascade=orphan

  # Keep a copy of everything that goes
  kubectl gc delete namespace shop --archive shop.yaml

  # The plan for a program
  kubectl gc delete -f app.yaml --dry-run=client -o json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := f.parse(cmd, args)
			if err != nil {
				return err
			}
			return f.run(cmd.Context(), d, args)
		},
		ValidArgsFunction: c.completeObjects,
	}
	f.add(cmd)
	return cmd
}

func (f *deleteFlags) run(ctx context.Context, d *deletion, args []string) error {
	client, err := f.client()
	if err != nil {
		return err
	}
	catalog, err := interruptible(ctx, client.Discover)
	if err != nil {
		return err
	}
	var missing []error
	objects, err := interruptible(ctx, func() (found []object, err error) {
		found, missing, err = f.resolve(ctx, client, catalog, d, args)
		return found, err
	})
	if err != nil {
		return err
	}
	planned, err := interruptible(ctx, func() (*plannedDeletion, error) { return f.plan(ctx, client, catalog, d, objects) })
	if err != nil {
		return errors.Join(append(missing, err)...)
	}
	missing = append(missing, planned.missing...)
	warnGaps(f.ErrOut, planned.gaps)
	f.warnLeftOut(planned.leftOut)
	if len(planned.Roots) == 0 {
		if len(missing) == 0 {
			fmt.Fprintln(f.Out, "No resources found")
		}
		return errors.Join(missing...)
	}
	if d.dryRun != "none" {
		return errors.Join(append(missing, f.preview(ctx, client, d, planned))...)
	}
	if err := f.confirm(ctx, client, d, planned); err != nil {
		return errors.Join(append(missing, err)...)
	}
	if err := f.save(ctx, client, planned); err != nil {
		return errors.Join(append(missing, err)...)
	}
	return errors.Join(append(missing, f.perform(ctx, client, catalog, d, planned))...)
}

// plannedDeletion is a plan with what it rests on.
type plannedDeletion struct {
	render.Plan
	gaps      []v1alpha1.Gap
	positions []cluster.Position
	missing   []error   // objects that were named and are not there
	leftOut   []leftOut // objects that were meant and are not any more
	listing   cluster.ListOptions
	saved     *archive.Saved // nil without --archive
}

// plan lists what a deletion of the objects can reach, and plans it.
func (f *deleteFlags) plan(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, d *deletion, objects []object) (*plannedDeletion, error) {
	if len(objects) == 0 {
		return &plannedDeletion{Plan: render.Plan{Plan: plan.New(graph.NewBuilder().Build(), nil, d.policy, plan.Options{})}}, nil
	}
	request := &treeRequest{client: client, catalog: catalog, roots: roots{objects: objects}, namespace: objects[0].namespace}
	rights := askRights(ctx, client, objects)
	defer rights.stop()
	builder := graph.NewBuilder()
	progress := newProgress(f.ErrOut)
	defer progress.done()
	selector, err := f.labels()
	if err != nil {
		return nil, err
	}
	opts := cluster.ListOptions{Namespace: request.listingScope(false, false), Selector: selector}
	if request.namespace != "" {
		opts.Fallback = []string{request.namespace}
	}
	if progress != nil {
		opts.Progress = progress.report
	}
	listed, err := client.List(ctx, catalog, opts, builder)
	if err != nil {
		return nil, err
	}
	g := builder.Build()
	p := &plannedDeletion{gaps: listed.Gaps, positions: listed.Positions, listing: opts}
	ids, err := f.find(ctx, request, g, objects, d, p)
	if err != nil {
		return nil, err
	}
	links := link.New(g).Dependents
	p.Plan.Plan = plan.New(g, ids, d.policy, f.planOptions(links, listed.Gaps))
	known, err := facts(ctx, client, p.Plan.Plan)
	if err != nil {
		return nil, err
	}
	known.GracePeriodSeconds, known.Propagated, known.Forbidden = d.grace, f.propagateGrace, rights.forbidden(ctx, p.Plan.Plan, f.us()...)
	if err := f.learnMore(ctx, client, catalog, p, &known); err != nil {
		return nil, err
	}
	p.Learn(known)
	claims := p.ClaimLinks()
	p.Rows = g.Tree(ids, graph.TreeOptions{Depth: -1, Links: func(id graph.ID) []graph.Link { return slices.Concat(links(id), claims(id)) }})
	p.Gaps = p.Relevant(listed.Gaps)
	return p, nil
}

// learnMore finds out which disks are destroyed, and who of those that the deletion waits for does not run.
func (f *deleteFlags) learnMore(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, p *plannedDeletion, facts *plan.Facts) error {
	reader := cluster.NewReader(client, catalog)
	learnDisks(ctx, reader, p.Plan.Plan, facts)
	if len(p.Blockers) == 0 {
		return context.Cause(ctx)
	}
	var err error
	if p.Known, err = f.known(); err != nil {
		return err
	}
	return learnIdle(ctx, client, reader, p.Known, p.Plan.Plan, facts)
}

// us are those whose part of the plan this command does.
func (f *deleteFlags) us() []plan.By {
	if f.gc == "client" {
		return []plan.By{plan.ByClient, plan.ByCollector}
	}
	return []plan.By{plan.ByClient}
}

// planOptions say by whose rules the collector's part is done.
func (f *deleteFlags) planOptions(links plan.Linker, gaps []v1alpha1.Gap) plan.Options {
	opts := plan.Options{Links: links, Strict: f.strict}
	if f.gc == "client" {
		opts.Rules, opts.Gaps = plan.Loop, gaps
	}
	return opts
}

// preview prints the plan and, for --dry-run=server, sends its first wave with dryRun=All.
func (f *deleteFlags) preview(ctx context.Context, client *cluster.Client, d *deletion, p *plannedDeletion) error {
	if err := f.show(p); err != nil {
		return err
	}
	if d.dryRun != "server" {
		return nil
	}
	refused, ignored := act.Check(ctx, client, p.Plan.Plan, d.grace)
	var errs []error
	for _, r := range refused {
		errs = append(errs, r.Err)
	}
	if len(ignored) > 0 {
		errs = append(errs, f.ignoresPolicy(p, ignored))
	}
	return errors.Join(errs...)
}

// show prints the plan in the format that was asked for.
func (f *deleteFlags) show(p *plannedDeletion) error {
	switch f.output.format() {
	case "", "wide":
		return render.PlanTable(f.Out, p.Plan, f.style(f.output.format() == "wide"))
	case "name":
		for _, denial := range p.Denials() {
			fmt.Fprintln(f.ErrOut, "Warning: "+denial)
		}
		return showNames(f.Out, p.Graph, p.Deleted)
	}
	return f.output.write(f.Out, render.PlanObject(p.Plan, p.gaps))
}

// ignoresPolicy is the refusal of a deletion whose policy the server would not carry out.
func (f *deleteFlags) ignoresPolicy(p *plannedDeletion, ignored []plan.Action) error {
	ref := p.Graph.Ref(ignored[0].Object)
	return refusal{withHint(
		fmt.Errorf("the server would delete %s %q at once and not with the policy %s: it does not support garbage collection for it", ref.Resource, ref.Name, ignored[0].Policy),
		"use --cascade=background, and delete or detach the dependents yourself")}
}
