package change_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// fault is what happens to one request.
type fault int

const (
	none       fault = iota
	changed          // somebody changes the object before, in what does not matter
	undone           // somebody sets the reference before, or after the answer was sent
	deleted          // somebody deletes the object before
	replaced         // and creates it again
	conflict         // the answer is 409, of a webhook
	invalid          // 422
	notFound         // 404, of a proxy
	broken           // 500
	lost             // the answer is lost on its way
	webhook          // a webhook undoes the change in the same request
	anonymous        // the answer has no uid
	faultCount = iota
)

// server has one object in memory. It takes a patch as the API server does: only if all tests hold.
type server struct {
	faults []fault
	now    *graph.Object // nil if it does not exist
	// version is the last resourceVersion that was given.
	version int
	// decided is the version that the last decision was about, and wrong says what was written in
	// spite of it.
	decided string
	wrong   []string
	// patches counts those that were sent, and shown reports whether the last answer showed the
	// reference, which nobody knows without an answer.
	patches int
	shown   *bool
	// status is what was stored, and updates counts the times.
	status  any
	updates int
}

var configMaps = graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}

var groupResource = schema.GroupResource{Resource: "configmaps"}

const meant = "uid-of-the-object"

var (
	object = graph.Ref{APIVersion: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespace: "shop", Name: "web",
		UID: meant}
	keeps = graph.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "keeps", UID: "uid-of-keeps"}
	gone  = graph.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "gone", UID: "uid-of-gone"}
)

func newServer(faults ...fault) *server {
	s := &server{faults: faults}
	s.store(graph.Object{Namespace: "shop", Name: "web", UID: meant, Owners: []graph.OwnerReference{keeps, gone}})
	return s
}

func (s *server) store(o graph.Object) {
	s.version++
	o.ResourceVersion = strconv.Itoa(s.version)
	s.now = &o
}

// set sets the references of the object, if it is there.
func (s *server) set(owners ...graph.OwnerReference) {
	if s.now != nil {
		o := *s.now
		o.Owners = owners
		s.store(o)
	}
}

// meanwhile takes the next fault, and does what somebody else does before the request.
func (s *server) meanwhile() fault {
	f := none
	if len(s.faults) > 0 {
		f, s.faults = s.faults[0], s.faults[1:]
	}
	switch f {
	case changed:
		if s.now != nil {
			s.set(s.now.Owners...)
		}
	case undone:
		if s.now != nil && s.now.UID == meant {
			s.set(gone, keeps)
		}
	case deleted:
		s.now = nil
	case replaced:
		s.store(graph.Object{Namespace: "shop", Name: "web", UID: "uid-of-another",
			Owners: []graph.OwnerReference{keeps, gone}})
	}
	return f
}

// answer is what the request gets back; the object is as the server has it.
func (s *server) answer(f fault) (*graph.Object, error) {
	s.shown = nil
	switch {
	case f == conflict:
		return nil, apierrors.NewConflict(groupResource, "web", errors.New("not now"))
	case f == invalid:
		return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "patch", groupResource, "web", "",
			0, true)
	case f == notFound:
		return nil, apierrors.NewGenericServerResponse(http.StatusNotFound, "get", groupResource, "web", "", 0, true)
	case f == broken:
		return nil, apierrors.NewInternalError(errors.New("broken"))
	case f == lost:
		return nil, errors.New("unexpected EOF")
	case s.now == nil:
		return nil, apierrors.NewNotFound(groupResource, "web")
	}
	o := *s.now
	o.Owners = slices.Clone(o.Owners)
	if f == anonymous {
		o.UID = ""
		return &o, nil
	}
	has := slices.Contains(o.Owners, gone)
	s.shown = &has
	return &o, nil
}

func (s *server) GetMeta(context.Context, graph.Type, string, string) (*graph.Object, error) {
	return s.answer(s.meanwhile())
}

func (s *server) Patch(_ context.Context, _ graph.Type, _, _ string, steps []cluster.PatchStep,
	opts cluster.PatchOptions) (*graph.Object, error) {
	s.patches++
	f := s.meanwhile()
	if s.now == nil || slices.Contains([]fault{conflict, invalid, notFound, broken}, f) {
		return s.answer(f)
	}
	owners := slices.Clone(s.now.Owners)
	for _, step := range steps {
		if !s.take(step, &owners) {
			return s.answer(invalid)
		}
	}
	if s.now.UID != meant || s.now.ResourceVersion != s.decided {
		s.wrong = append(s.wrong, fmt.Sprintf("version %s of %s was written to, and the decision was about %s",
			s.now.ResourceVersion, s.now.UID, s.decided))
	}
	if f == webhook { // which undoes the change
		owners = s.now.Owners
	}
	if opts.DryRun {
		return s.answer(f)
	}
	s.set(owners...)
	return s.answer(f)
}

// take does one step of a patch; it is false if a test fails.
func (s *server) take(step cluster.PatchStep, owners *[]graph.OwnerReference) bool {
	path := strings.Split(strings.TrimPrefix(step.Path, "/metadata/"), "/")
	if path[0] != "ownerReferences" {
		return map[string]string{"uid": s.now.UID, "resourceVersion": s.now.ResourceVersion}[path[0]] == step.Value
	}
	if step.Op == "add" {
		added, _ := step.Value.(graph.OwnerReference)
		*owners = append(*owners, added)
		return true
	}
	at, err := strconv.Atoi(path[1])
	switch {
	case err != nil, at >= len(*owners):
		return false
	case step.Op == "test":
		return (*owners)[at].UID == step.Value
	}
	*owners = slices.Delete(*owners, at, at+1)
	return true
}

// Delete deletes the object only if it has the uid.
func (s *server) Delete(_ context.Context, _ graph.Type, _, _, uid string,
	_ cluster.DeleteOptions) (cluster.Deleted, error) {
	if s.now == nil || s.now.UID != uid {
		_, err := s.answer(conflict)
		return cluster.Deleted{}, err
	}
	s.now = nil
	return cluster.Deleted{Gone: true}, nil
}

// UpdateStatus takes the status only of the object and the version that was read.
func (s *server) UpdateStatus(_ context.Context, _ graph.Type, o *unstructured.Unstructured,
	_ cluster.WriteOptions) (*unstructured.Unstructured, error) {
	f := s.meanwhile()
	if s.now == nil || slices.Contains([]fault{conflict, invalid, notFound, broken}, f) {
		return s.content(s.answer(f))
	}
	if string(o.GetUID()) != s.now.UID || o.GetResourceVersion() != s.now.ResourceVersion {
		return s.content(s.answer(conflict))
	}
	if f != webhook { // which undoes the change
		s.status = o.Object["status"]
		s.updates++
	}
	s.store(*s.now)
	return s.content(s.answer(f))
}

func (s *server) PutBackAtOnce(_ context.Context, _ graph.Type, what string) *cluster.PutBackError {
	return &cluster.PutBackError{What: what}
}

func (s *server) PutBack(_ context.Context, _ graph.Type, _ graph.Ref, what string, _ []string,
	times int) *cluster.PutBackError {
	return &cluster.PutBackError{What: what, Times: times}
}

func (s *server) GetObject(ctx context.Context, t graph.Type, namespace, name string) (*unstructured.Unstructured,
	error) {
	return s.GetObjectMeta(ctx, t, namespace, name)
}

func (s *server) GetObjectMeta(ctx context.Context, t graph.Type, namespace, name string) (*unstructured.Unstructured,
	error) {
	return s.content(s.GetMeta(ctx, t, namespace, name))
}

func (s *server) content(now *graph.Object, err error) (*unstructured.Unstructured, error) {
	if err != nil {
		return nil, err
	}
	o := &unstructured.Unstructured{Object: map[string]any{}}
	if now.UID != "" {
		o.Object["metadata"] = map[string]any{"uid": now.UID, "resourceVersion": now.ResourceVersion}
	}
	if s.status != nil {
		o.Object["status"] = s.status
	}
	return o, nil
}
