package actor

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// pods looks at pods that no workload of a known type makes, as static ones, and returns how many
// there are, and whether these are all. Those that have ended, and those of Jobs, remove no
// finalizers.
func (s *search) pods(ctx context.Context, selector string) (found int, complete bool) {
	all, err := s.reader.ListObjects(ctx, cluster.Pods, "", cluster.Selection{Labels: selector})
	if err != nil {
		s.missed("pods cannot be listed: %v", err)
	}
	for _, pod := range all {
		if ended(pod) || !s.belongs(pod.GetNamespace(), pod.GetLabels()) {
			continue
		}
		found++
		s.found = true
		s.add(s.inside(s.assessPod(pod)))
	}
	return found, err == nil
}

func (s *search) assessPod(pod *unstructured.Unstructured) Sign {
	from := cluster.Place(pod, "status.conditions")
	if podReady(pod) {
		return Sign{Life: Alive, Says: cluster.Located(pod) + " is ready", From: from}
	}
	since, verb := changedPod(pod)
	if s.young(since) {
		return Sign{Life: Unknown, Says: cluster.Located(pod) + " is not ready: " + s.sinceWhen(verb, since), From: from,
			starting: true}
	}
	return Sign{Life: Dead, Says: cluster.Located(pod) + " has not been ready for " + s.ago(since), From: from}
}

// podReady reports whether a pod is ready.
func podReady(pod *unstructured.Unstructured) bool {
	c, _ := status.Find(pod, "Ready")
	return c.Status == "True"
}

// ended reports whether a pod is done, or is one that is meant to end.
func ended(pod *unstructured.Unstructured) bool {
	return status.Ended(pod) || slices.ContainsFunc(pod.GetOwnerReferences(),
		func(owner metav1.OwnerReference) bool { return owner.Kind == "Job" })
}

// podsSelectedBy returns the pods that a workload selects, with those that are being deleted; none
// if it has no selector.
func (f *Finder) podsSelectedBy(ctx context.Context, w *unstructured.Unstructured) ([]*unstructured.Unstructured,
	error) {
	selector, err := PodSelector(w)
	if selector == "" || err != nil {
		return nil, err
	}
	return f.reader.ListObjects(ctx, cluster.Pods, w.GetNamespace(), cluster.Selection{Labels: selector})
}

// PodSelector returns the label selector of the pods of a workload, empty if it has none.
func PodSelector(w *unstructured.Unstructured) (string, error) {
	written, _, _ := unstructured.NestedMap(w.Object, "spec", "selector")
	if len(written) == 0 {
		return "", nil
	}
	var of metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(written, &of); err != nil {
		return "", err
	}
	selector, err := metav1.LabelSelectorAsSelector(&of)
	if err != nil {
		return "", err
	}
	return selector.String(), nil
}

// setting is a value that a container is started with, and whether it can be told from its
// workload.
type setting struct {
	value string
	known bool
}

// container is what one container of a workload is started with.
type container struct {
	env  map[string]setting
	args []string // command and args
	// image is the path of its image's repository, empty if it says none.
	image string
}

// containersOf reads the containers of a workload's pods.
func containersOf(w *unstructured.Unstructured) []container {
	template, _, _ := unstructured.NestedFieldNoCopy(w.Object, "spec", "template")
	t, _ := template.(map[string]any)
	var all []container
	for _, item := range listOf(t, "spec", "containers") {
		m, _ := item.(map[string]any)
		c := container{env: map[string]setting{}}
		for _, item := range listOf(m, "env") {
			v, _ := item.(map[string]any)
			c.env[status.Text(v, "name")] = c.settingOf(v, w, t)
		}
		c.args, c.image = append(texts(m, "command"), texts(m, "args")...), repository(status.Text(m, "image"))
		if i := slices.Index(c.args, "-c"); i >= 0 && i+1 < len(c.args) { // a line for a shell
			c.args = slices.Concat(c.args[:i], wordsOf(c.args[i+1]), c.args[i+2:])
		}
		all = append(all, c)
	}
	return all
}

// wordsOf are those of the one command in a line for a shell, or of that which takes its place in the
// end: what others do before, as kubectl wait --namespace, says nothing of the program.
func wordsOf(line string) []string {
	commands := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(";&|\n", r) })
	for i, command := range commands {
		words := strings.Fields(command)
		if len(commands) == 1 || i == len(commands)-1 && slices.Index(words, "exec") == 0 {
			return words
		}
	}
	return nil
}

// settingOf resolves the value of a variable. What comes from a ConfigMap or a Secret is not read.
func (c container) settingOf(v map[string]any, w *unstructured.Unstructured, template map[string]any) setting {
	from, sourced := v["valueFrom"].(map[string]any)
	if !sourced {
		return c.expanded(status.Text(v, "value"))
	}
	path, _, _ := unstructured.NestedString(from, "fieldRef", "fieldPath")
	switch key, annotation := strings.CutPrefix(path, "metadata.annotations['"); {
	case path == "metadata.namespace":
		return setting{w.GetNamespace(), true}
	case annotation: // the Operator Lifecycle Manager writes olm.targetNamespaces into the template
		value, ok, _ := unstructured.NestedString(template, "metadata", "annotations", strings.TrimSuffix(key, "']"))
		return setting{value, ok}
	}
	return setting{}
}

var variable = regexp.MustCompile(`\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)`)

// expanded puts in the variables that a value refers to, as the kubelet does.
func (c container) expanded(value string) setting {
	s := setting{known: true}
	s.value = variable.ReplaceAllStringFunc(value, func(ref string) string {
		v, ok := c.env[ref[2:len(ref)-1]]
		s.known = s.known && ok && v.known
		return v.value
	})
	return s
}

// patience is for how long a workload or pod must not have been ready, or a Lease not renewed, to
// be a witness of death: nodes are drained, images are pulled and leaders are elected within it.
const patience = 10 * time.Minute

// young reports whether what began at a time is no witness of death yet. If the time is not known, as
// in a file that leaves out what the server writes, it never is.
func (s *search) young(since time.Time) bool {
	return since.IsZero() || s.now().Sub(since) < patience
}

func (s *search) ago(since time.Time) string { return phrase.Ago(s.now().Sub(since)) }

// sinceWhen says what has been going on since a time.
func (s *search) sinceWhen(verb string, since time.Time) string {
	if since.IsZero() {
		return "since when is not known"
	}
	return verb + " " + s.ago(since)
}

// unready says for how long a workload that should have pods has had none that is ready. That is
// the time since the latest of these: a transition of its conditions Available and Progressing, or
// its creation if it has none of them; the time of its deletion; a transition of the condition
// Ready of its pods, or the creation of one that has none. Anything younger than patience means
// that it may be starting.
func (s *search) unready(ctx context.Context, o *unstructured.Unstructured, sign Sign) Sign {
	since, verb := changed(o)
	if observed := number(o, -1, "status", "observedGeneration"); observed >= 0 && observed < o.GetGeneration() {
		sign.Says += ": its controller has not acted on its last change"
		sign.starting = true
		return sign
	}
	if past := s.now().Sub(since); past >= patience {
		pods, err := s.podsSelectedBy(ctx, o)
		if err != nil {
			s.missed("the pods of %s cannot be listed: %v", cluster.Located(o), err)
			sign.starting = true
			return sign
		}
		available, said := status.Find(o, "Available")
		if len(pods) == 0 && said && available.Status != "False" {
			sign.starting = true // its status is not of now: it says that enough pods are available
			return sign
		}
		for _, pod := range pods {
			if podReady(pod) && pod.GetDeletionTimestamp() == nil {
				return Sign{Life: Alive, Says: cluster.Located(pod) + " is ready", From: cluster.Place(pod, "status.conditions")}
			}
			if at, of := changedPod(pod); at.After(since) {
				since, verb = at, of
			}
		}
	}
	if s.young(since) {
		sign.Says += ": " + s.sinceWhen(verb, since)
		sign.starting = true
		return sign
	}
	sign.Life, sign.Says = Dead, cluster.Located(o)+" has had no ready pod for "+s.ago(since)
	return sign
}

// What has been going on since a time, for use in "it has been …".
const (
	startingFor = "starting for"
	unreadyFor  = "not ready for"
	deletedFor  = "being deleted for"
	idleFor     = "idle for"
)

// changed returns since when a workload has been as it is, and what it has been doing.
func changed(o *unstructured.Unstructured) (time.Time, string) {
	var since time.Time
	for _, of := range []string{"Available", "Progressing"} {
		if c, ok := status.Find(o, of); ok && c.Since.After(since) {
			since = c.Since
		}
	}
	verb := unreadyFor
	if since.IsZero() {
		since, verb = o.GetCreationTimestamp().Time, startingFor
	}
	if idle(o) { // its controller writes no conditions
		for _, m := range o.GetManagedFields() {
			if m.Subresource == "status" && m.Time != nil && m.Time.After(since) {
				since, verb = m.Time.Time, idleFor
			}
		}
	}
	if at := o.GetDeletionTimestamp(); at != nil && at.After(since) {
		since, verb = at.Time, deletedFor
	}
	return since, verb
}

// changedPod returns since when a pod has been as it is, and what it has been doing.
func changedPod(pod *unstructured.Unstructured) (time.Time, string) {
	if c, ok := status.Find(pod, "Ready"); ok && !c.Since.IsZero() {
		return c.Since, unreadyFor
	}
	return pod.GetCreationTimestamp().Time, startingFor
}

// outOfService is the taint of a node that is off for good: kube-controller-manager removes its pods.
const outOfService = "node.kubernetes.io/out-of-service"

// ReadNode says by its condition whether a node is ready, as a clause.
func ReadNode(o *unstructured.Unstructured, now time.Time) (says string, ready bool) {
	c, said := status.Find(o, "Ready")
	switch {
	case !said:
		return fmt.Sprintf("Node %s has never been ready", o.GetName()), false
	case c.Status == "True":
		return fmt.Sprintf("Node %s is ready", o.GetName()), true
	}
	says = fmt.Sprintf("condition Ready of Node %s is %s", o.GetName(), c.Status)
	if !c.Since.IsZero() {
		says += " for " + phrase.Ago(now.Sub(c.Since))
	}
	return says + ": " + c.Message, false
}

// Silent reports whether the kubelet of a node is not heard from, so that nothing confirms that a
// pod has stopped there. One that is not ready for another reason still ends pods.
func Silent(o *unstructured.Unstructured) bool {
	c, _ := status.Find(o, "Ready")
	return c.Status == "Unknown" && !Tainted(o, outOfService)
}

// Tainted reports whether a node has a taint.
func Tainted(o *unstructured.Unstructured, key string) bool {
	taints, _, _ := unstructured.NestedSlice(o.Object, "spec", "taints")
	for _, item := range taints {
		if m, _ := item.(map[string]any); status.Text(m, "key") == key {
			return true
		}
	}
	return false
}
