package refusal

import (
	"context"
	"errors"
	"regexp"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Tries are the dry runs of an examination. A webhook that was called in vain once is not called
// again: what it would do to other writes follows from its rules. Of writes for which the same
// webhook is called, one is sent first, and the others when it has been answered. It is safe for
// concurrent use.
type Tries struct {
	// Many says that there is more than one write to try. A single one needs no care.
	Many bool
	// none says that nothing is tried.
	none bool

	mu    sync.Mutex
	asked map[string]*asking
	// until is when nothing new is asked any more, from when a webhook has not answered in time.
	until time.Time
	// Left is how many writes were not tried.
	Left int
}

// asking is what is known of a webhook, or of a type where webhooks may not be listed.
type asking struct {
	// done is closed when somebody has been answered.
	done chan struct{}
	// failed is what the server said after it was called in vain, and about is the object if it is
	// not to be called again.
	failed error
	about  string
}

// errUntried is for a write that was not tried, since a webhook would not answer, or no dry run is
// to be sent.
var errUntried = errors.New(
	"it was not tried: a webhook that would be called has not answered before, or no dry run was to be sent")

// calledInVain is how the API server names a webhook that did not answer.
var calledInVain = regexp.MustCompile(`failed calling webhook "([^"]+)"`)

// gate is something that a write has to pass.
type gate struct {
	key, name string
	patience  time.Duration
	// certain says that its rules tell that it is called.
	certain bool
	// open says that the write passes if nobody answers.
	open bool
}

// usualTimeout is timeoutSeconds of a webhook that does not say
// (k8s.io/api/admissionregistration/v1).
const usualTimeout = 10 * time.Second

// gates returns the webhooks that the server would call for a write.
func (e *Examiner) gates(ctx context.Context, w admission.Write) []gate {
	hooks, unread := e.Reader.Admission().Webhooks(ctx)
	var all []gate
	if len(unread) > 0 {
		all = append(all, gate{key: w.String() + " in " + w.Object.GetNamespace(), patience: usualTimeout})
	}
	for _, h := range hooks {
		match := e.Reader.Admission().Calls(ctx, h, w)
		if match == admission.Never {
			continue
		}
		g := gate{key: h.Key(), name: h.Name, patience: usualTimeout, certain: match == admission.Always, open: !h.Fails()}
		if h.TimeoutSeconds != nil {
			g.patience = time.Duration(*h.TimeoutSeconds) * time.Second
		}
		all = append(all, g)
	}
	return all
}

// send tries a write, and returns what the server answers, or has answered to another write that
// the same webhook keeps from being done.
func (t *Tries) send(ctx context.Context, e *Examiner, w admission.Write, do func(context.Context) error) error {
	switch {
	case t.none:
		return errUntried
	case !t.Many:
		return do(ctx)
	}
	gates := e.gates(ctx, w)
	for ctx.Err() == nil {
		claimed, wait, err := t.claim(gates)
		if err != nil {
			return err
		}
		if wait != nil {
			select {
			case <-wait:
			case <-ctx.Done():
			}
			continue
		}
		if len(claimed) == 0 {
			return do(ctx)
		}
		return t.first(ctx, w, claimed, do)
	}
	return context.Cause(ctx)
}

// claim returns the gates that nobody has passed yet, which the caller has to try then, or
// something to wait for, or why a write is not tried.
func (t *Tries) claim(gates []gate) (claimed []gate, wait chan struct{}, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, g := range gates {
		a := t.asked[g.key]
		switch {
		case a == nil:
			claimed = append(claimed, g)
		case a.failed != nil && !errors.Is(a.failed, errUntried) && g.certain && !g.open:
			return nil, nil, a.failed
		case a.failed != nil && a.about != "":
			t.Left++
			return nil, nil, errUntried
		case a.done != nil:
			wait = a.done
		}
	}
	if wait != nil || len(claimed) == 0 {
		return nil, wait, nil
	}
	if !t.until.IsZero() && time.Now().After(t.until) {
		t.Left++
		return nil, nil, errUntried
	}
	done := make(chan struct{})
	for _, g := range claimed {
		t.asked[g.key] = &asking{done: done}
	}
	return claimed, nil, nil
}

// first tries a write as the first for which some webhooks are called.
func (t *Tries) first(ctx context.Context, w admission.Write, gates []gate, do func(context.Context) error) error {
	var patience time.Duration
	for _, g := range gates {
		patience = max(patience, g.patience)
	}
	began := time.Now()
	deadline := began.Add(2 * patience)
	t.mu.Lock()
	if !t.until.IsZero() && t.until.Before(deadline) {
		deadline = t.until
	}
	t.mu.Unlock()
	trying, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	err := do(trying)
	late := ctx.Err() == nil && trying.Err() != nil && !byServer(err) // what was answered in the last moment was answered
	t.answered(w, gates, began, patience, err, late)
	if late {
		return errUntried
	}
	return err
}

// byServer reports whether the server has answered, with success or with an error of its own.
func byServer(err error) bool {
	return err == nil || errors.As(err, new(apierrors.APIStatus))
}

// answered remembers what came of a write, and has those go on who wait for it. Webhooks of which
// it says nothing are to be tried again.
func (t *Tries) answered(w admission.Write, gates []gate, began time.Time, patience time.Duration, err error,
	late bool) {
	took := time.Since(began)
	name := ""
	if err != nil {
		if match := calledInVain.FindStringSubmatch(err.Error()); match != nil {
			name = match[1]
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	done := t.asked[gates[0].key].done // one for all
	for _, g := range gates {
		a := t.asked[g.key]
		a.done = nil
		slow := took >= g.patience
		switch {
		case name != "" && (g.name == name || g.name == ""):
			a.failed, a.about = err, ""
			if slow || g.certain {
				a.about = objectName(w)
			}
		case late || slow && g.open && name == "": // it was waited for in vain, and the server says nothing of that
			a.failed, a.about = errUntried, objectName(w)
		case name != "":
			delete(t.asked, g.key)
		}
		if slow && a.failed != nil && t.until.IsZero() {
			t.until = began.Add(2 * patience)
		}
	}
	if late {
		t.Left++
	}
	close(done)
}

// once says about which object a webhook was called that did not answer and was not called again,
// empty if it answered.
func (t *Tries) once(h admission.Webhook) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a := t.asked[h.Key()]; a != nil && a.failed != nil {
		return a.about
	}
	return ""
}

func objectName(w admission.Write) string {
	return graph.Located(w.Type.Kind, w.Object.GetNamespace(), w.Object.GetName())
}
