// Package manager is a kube-controller-manager of the few controllers that tests and the demo name.
// They are upstream's own, put together as upstream does. Its program links forty more, with the
// scheduler, half of the kubelet and the drivers of volumes behind them: a fifth of what there is
// to compile.
package manager

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/controller-manager/pkg/informerfactory"
)

// options are the flags: of upstream's those that the control plane sets or tests do, and where to
// say that all controllers run.
type options struct {
	kubeconfig, controllers, ready string
	tokenKey                       string
	qps                            float32
	burst                          int
}

// New gives the command kube-controller-manager. It runs until its context is done.
func New() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:           "kube-controller-manager",
		Short:         "Run some of Kubernetes' controllers",
		Long:          "Run some of Kubernetes' controllers:\n\n  " + strings.Join(names(), "\n  "),
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "how to reach the API server")
	flags.StringVar(&o.controllers, "controllers", "", "the controllers to run, separated by commas")
	flags.StringVar(&o.tokenKey, "service-account-private-key-file", "", "the key that signs tokens of ServiceAccounts")
	flags.Float32Var(&o.qps, "kube-api-qps", 20, "requests a second")
	flags.IntVar(&o.burst, "kube-api-burst", 30, "requests at once")
	flags.StringVar(&o.ready, "ready-file", "", "a file that appears when all controllers have been started")
	return cmd
}

func names() []string {
	var all []string
	for name := range constructors {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func (o options) run(ctx context.Context) error {
	m, err := o.manager(ctx)
	if err != nil {
		return err
	}
	var loops []func(context.Context)
	for name := range strings.SplitSeq(o.controllers, ",") {
		construct := constructors[name]
		if construct == nil {
			return fmt.Errorf("there is no controller %q here: there are %s", name, strings.Join(names(), ", "))
		}
		loop, err := construct(ctx, m)
		if err != nil {
			return fmt.Errorf("making the controller %s: %w", name, err)
		}
		loops = append(loops, loop)
	}
	m.informers.Start(ctx.Done())
	m.any.Start(ctx.Done())
	close(m.started)
	var running sync.WaitGroup
	for _, loop := range loops {
		running.Go(func() { loop(ctx) })
	}
	if o.ready != "" {
		if err := os.WriteFile(o.ready, nil, 0o600); err != nil {
			return fmt.Errorf("saying that the controllers run: %w", err)
		}
	}
	running.Wait()
	return nil
}

// manager is what controllers share.
type manager struct {
	config    *rest.Config
	informers informers.SharedInformerFactory
	any       informerfactory.InformerFactory // of types that are not known here, too
	metadata  metadata.Interface
	mapper    meta.ResettableRESTMapper
	started   chan struct{} // closed when the informers are
	tokenKey  string        // the file of the key that signs tokens
}

func (o options) manager(ctx context.Context) (*manager, error) {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst, config.ContentType = o.qps, o.burst, "application/vnd.kubernetes.protobuf"
	m := &manager{config: config, started: make(chan struct{}), tokenKey: o.tokenKey}
	client, err := m.client("shared-informers")
	if err != nil {
		return nil, err
	}
	if m.metadata, err = metadata.NewForConfig(m.configFor("metadata-informers")); err != nil {
		return nil, err
	}
	resync := time.Duration(float64(12*time.Hour) * (1 + rand.Float64()))
	m.informers = informers.NewSharedInformerFactoryWithOptions(client, resync, informers.WithTransform(trim))
	m.any = informerfactory.NewInformerFactory(m.informers,
		metadatainformer.NewSharedInformerFactoryWithOptions(m.metadata, resync, metadatainformer.WithTransform(trim)))
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	go wait.Until(mapper.Reset, 30*time.Second, ctx.Done())
	m.mapper = mapper
	return m, nil
}

// configFor is the configuration of a client, with a name in its user agent.
func (m *manager) configFor(name string) *rest.Config {
	return rest.AddUserAgent(rest.CopyConfig(m.config), name)
}

func (m *manager) client(name string) (kubernetes.Interface, error) {
	return kubernetes.NewForConfig(m.configFor(name))
}

// trim leaves out what no controller reads.
func trim(o any) (any, error) {
	if accessor, err := meta.Accessor(o); err == nil {
		accessor.SetManagedFields(nil)
	}
	return o, nil
}
