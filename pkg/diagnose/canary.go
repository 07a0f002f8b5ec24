package diagnose

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// canary is whether the garbage collector works, by an object for it to collect: its owner has
// never existed.
type canary struct {
	collected bool
	says      string
}

const (
	// canaryNamespace is where the canary is: the namespace in question may be being deleted, and
	// then takes none (API-024).
	canaryNamespace = metav1.NamespaceDefault
	// flight is for how long it is waited for. A collector at work needs less than a second.
	flight = 20 * time.Second
	// farewell is for how long the answer to its deletion is waited for after an interruption.
	farewell = 2 * time.Second
)

// runCanary writes the canary and waits until it is gone, or takes it away itself.
func runCanary(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog) canary {
	r, ok := catalog.Lookup(schema.GroupResource{Resource: "configmaps"})
	if !ok {
		return canary{says: "no canary could be written: the server serves no configmaps"}
	}
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("v1")
	o.SetKind("ConfigMap")
	o.SetGenerateName("kubectl-gc-canary-")
	o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "kubectl-gc-never-existed",
		UID: uuid.NewUUID()}})
	written, err := client.Create(ctx, r.Type, canaryNamespace, o, cluster.WriteOptions{})
	if err != nil {
		return canary{says: fmt.Sprintf("no canary could be written: %v", err)}
	}
	name, uid := written.GetName(), string(written.GetUID())
	waiting, gone := context.WithTimeout(ctx, flight)
	defer gone()
	began, collected := time.Now(), false
	var mu sync.Mutex
	err = client.Watch(waiting, []cluster.ResumePoint{{Type: r.Type, Namespace: canaryNamespace,
		ResourceVersion: written.GetResourceVersion()}}, func(c cluster.Change) {
		mu.Lock()
		defer mu.Unlock()
		if c.Gone && c.Object.UID == uid || c.Object == nil && !c.Relisted[uid] {
			collected = true
			gone()
		}
	})
	for errors.As(err, new(*cluster.UnseenError)) && waiting.Err() == nil && !collected { // it can be read only
		_, err := client.GetMeta(waiting, r.Type, canaryNamespace, name)
		collected = cluster.IsAbsent(err, r.Type, name)
		select {
		case <-waiting.Done():
		case <-time.After(time.Second):
		}
	}
	if collected {
		return canary{collected: true,
			says: fmt.Sprintf("a canary, a ConfigMap whose owner has never existed, was collected after %.1f s",
				time.Since(began).Seconds())}
	}
	// Whoever interrupts does not want it left behind either, and does not want to wait.
	cleaning, cancel := context.WithTimeout(context.WithoutCancel(ctx), flight)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(farewell, cancel) })()
	says := fmt.Sprintf("a canary, a ConfigMap whose owner has never existed, was not collected within %s",
		phrase.Ago(flight))
	if _, err := client.Delete(cleaning, r.Type, canaryNamespace, name, uid,
		cluster.DeleteOptions{Policy: "Background"}); err != nil && !cluster.IsAbsent(err, r.Type, name) {
		says += fmt.Sprintf(", and ConfigMap %s/%s, which it is, could not be deleted: %v", canaryNamespace, name, err)
	}
	return canary{says: says}
}
