package restore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// PerformOptions say how a plan is carried out.
type PerformOptions struct {
	// DryRun sends what can be asked without its owners and its namespace with dryRun=All.
	DryRun bool
	// OnEvent, if not nil, is called with each step that was done or failed, one call at a time.
	OnEvent func(Event)
}

// Perform does what a plan says, each step once, and looks at all of it again in the end. The
// archive is read again meanwhile, and must be the same. The error is of what ended it; the result
// is there all the same, and a second New and Perform go on from it.
func (p *Plan) Perform(ctx context.Context, client *cluster.Client, opts PerformOptions) (*Result, error) {
	r := &performer{plan: p, client: client, opts: opts, results: make([]outcome, len(p.Steps)), of: map[*item]*creation{}}
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Verb == Create || s.Verb == Apply {
			r.of[s.item] = &creation{done: make(chan struct{})}
		}
	}
	if !opts.DryRun {
		for archived, now := range p.copies {
			r.remember(archived, now)
		}
	}
	err := r.writeObjects(ctx)
	if err == nil && ctx.Err() == nil {
		r.writeReferences(ctx)
		r.verify(ctx)
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	return r.result(), err
}

// creation is an object that is created or applied. Its fields are set when done is closed.
type creation struct {
	done chan struct{}
	// uid is empty if the object was not created.
	uid string
	// other says that a controller has made it meanwhile, and not as it was: it gets no dependents.
	other bool
}

type performer struct {
	plan   *Plan
	client *cluster.Client
	opts   PerformOptions
	of     map[*item]*creation

	mu      sync.Mutex
	results []outcome
	// forgets says that the companion of the archive cannot be written, which was said.
	forgets bool
}

// remember notes that an object was created from an archived one. The note says that it cannot,
// once.
func (r *performer) remember(archived, now string) []string {
	err := r.plan.created.Add(archived, now)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil || r.forgets {
		return nil
	}
	r.forgets = true
	return []string{"another restore finds out by its content that it was restored before: " + err.Error()}
}

// note keeps what came of a step.
func (r *performer) note(i int, o outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results[i] = o
	if o.Event != nil && r.opts.OnEvent != nil {
		r.opts.OnEvent(*o.Event)
	}
}

// writeObjects creates and applies objects, wave after wave: each wave reads the archive once, and
// what is of another wave is stepped over.
func (r *performer) writeObjects(ctx context.Context) error {
	for wave := 0; wave <= lastWave; wave++ {
		byNumber := map[int]int{}
		var definitions []*Step
		for i := range r.plan.Steps {
			s := &r.plan.Steps[i]
			if s.wave != wave || s.Verb != Create && s.Verb != Apply && s.Verb != SetStatus {
				continue
			}
			byNumber[s.item.number] = i
			if s.item.kind() == kindDefinition && s.Verb == Create {
				definitions = append(definitions, s)
			}
		}
		if len(byNumber) == 0 {
			continue
		}
		if err := r.writeWave(ctx, byNumber); err != nil {
			return err
		}
		if !r.opts.DryRun {
			if err := r.awaitDefinitions(ctx, definitions); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeWave reads the archive and writes the objects of one wave; byNumber has their steps. An
// object is not begun before its owners are, so that those who wait for owners never keep these
// from being written.
func (r *performer) writeWave(ctx context.Context, byNumber map[int]int) error {
	a, err := archive.Open(r.plan.File)
	if err != nil {
		return err
	}
	defer a.Close()
	var group errgroup.Group
	group.SetLimit(r.client.Concurrency())
	defer func() { _ = group.Wait() }() // each error is in its place
	for number, left := 0, len(byNumber); left > 0; number++ {
		i, wanted := byNumber[number]
		if !wanted {
			if err := a.Skip(); err != nil {
				return r.changed(err)
			}
			continue
		}
		o, _, err := a.Next()
		if err != nil {
			return r.changed(err)
		}
		if r.plan.Steps[i].item.sum != a.Sum() {
			return errOther(r.plan.File)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		left--
		group.Go(func() error {
			r.writeObject(ctx, i, o)
			return nil
		})
	}
	return nil
}

// errOther is the error of an archive that is not the one that was read before, which was agreed
// to.
func errOther(file string) error {
	return fmt.Errorf("%s has changed since it was read; nothing more was restored", file)
}

// changed is the error of an archive that was whole before.
func (r *performer) changed(err error) error {
	if errors.Is(err, io.EOF) {
		return errOther(r.plan.File)
	}
	return err
}

// writeObject creates or applies one object.
func (r *performer) writeObject(ctx context.Context, i int, archived *unstructured.Unstructured) {
	s := &r.plan.Steps[i]
	if s.Verb == SetStatus {
		r.note(i, r.setStatus(ctx, s, archived))
		return
	}
	c := r.of[s.item]
	defer close(c.done)
	o := Creatable(archived)
	if s.unbound {
		remove(o.Object, "spec", "volumeName")
	}
	references, err := r.references(ctx, s.References)
	if err != nil {
		r.note(i, s.failed(err))
		return
	}
	if len(references) > 0 {
		o.SetOwnerReferences(references)
	}
	relabel(o, s.References, references)
	if r.opts.DryRun {
		r.note(i, r.ask(ctx, s, o))
		return
	}
	write := r.create
	if s.Verb == Apply {
		write = r.apply
	}
	written, notes, err := write(ctx, s, o)
	if err != nil {
		r.note(i, s.failed(err))
		return
	}
	if s.maker == "" {
		notes = append(notes, r.remember(s.item.ref.UID, string(written.GetUID()))...)
	}
	if r.plan.writesStatus(s) {
		_, err := r.object(s, string(written.GetUID())).GiveStatus(ctx, archived.Object["status"])
		if err != nil { // the object is there
			notes = append(notes, "without its status: "+err.Error())
		}
	}
	notes = append(notes, differences(o, written)...)
	r.mu.Lock()
	c.uid = string(written.GetUID())
	r.mu.Unlock()
	r.note(i, s.done(c.uid, notes...))
}

// uidOf waits until an owner is written, and returns its uid; empty if it was not written.
func (r *performer) uidOf(ctx context.Context, it *item) string {
	c := r.of[it]
	if c == nil {
		return ""
	}
	select {
	case <-c.done:
		if c.other {
			return ""
		}
		return c.uid
	case <-ctx.Done():
		return ""
	}
}

// A definition is served some moments after it was created. Nothing can be watched that says when:
// the condition Established comes before the server has begun to serve the type everywhere.
const (
	servedEvery  = 200 * time.Millisecond
	servedWithin = time.Minute
)

// awaitDefinitions waits until the types of definitions that were created are served.
func (r *performer) awaitDefinitions(ctx context.Context, definitions []*Step) error {
	for _, s := range definitions {
		if r.uidOf(ctx, s.item) == "" {
			continue // what needs it fails
		}
		var last error
		err := wait.PollUntilContextTimeout(ctx, servedEvery, servedWithin, true, func(ctx context.Context) (bool, error) {
			last = r.isServed(ctx, s)
			return last == nil, nil
		})
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("%s is not served after %s: %w; restore again when it is Established", s.Object.Name,
				servedWithin, last)
		}
	}
	return nil
}

// isServed returns why the types of a definition are not served yet; nil if they are.
func (r *performer) isServed(ctx context.Context, s *Step) error {
	o, err := r.client.GetObject(ctx, s.Type, "", s.Object.Name)
	if err != nil {
		return err
	}
	status, _, _ := unstructured.NestedMap(o.Object, "status")
	if !isTrue(status, "Established") {
		return errors.New("it is not Established")
	}
	for _, t := range s.item.facts.definition {
		if err := r.isListed(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// isListed lists a type. That the user may not is an answer of a server that knows it.
func (r *performer) isListed(ctx context.Context, t graph.Type) error {
	_, err := r.client.ListNames(ctx, t, "")
	if apierrors.IsForbidden(err) {
		return nil
	}
	return err
}

// ErrDeletedAgain is of an object that was created and is gone or being deleted again, or replaced,
// when it is looked at in the end.
var ErrDeletedAgain = errors.New(
	"it was created, and is gone or being deleted again; kubectl gc check says whether its owners exist")

// verify looks again at what was written.
func (r *performer) verify(ctx context.Context) {
	if r.opts.DryRun {
		return
	}
	at := map[int]target{}
	var targets []target
	for i, o := range r.results {
		if s := &r.plan.Steps[i]; o.isDone() && s.Verb != Rebind {
			at[i] = target{s.Type, s.Object.Namespace, s.Object.Name}
			targets = append(targets, at[i])
		}
	}
	found, err := look(ctx, r.client, targets)
	if err != nil {
		return // it was interrupted, which is said
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, t := range at {
		done := r.results[i].Event
		switch now := found[t]; {
		case now.err != nil:
			done.Notes = append(done.Notes, "it could not be looked at again: "+now.err.Error())
		case (now.uid != done.UID || now.deleting) && r.plan.Steps[i].maker != "":
			done.Notes = append(done.Notes, r.plan.Steps[i].maker+" has deleted it again: it makes what is missing by itself")
		case now.uid != done.UID || now.deleting:
			r.results[i] = done.Step.failed(ErrDeletedAgain)
		}
	}
}
