package manager

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/endpoint"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/replication"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
	"k8s.io/kubernetes/pkg/controller/statefulset"
	"k8s.io/kubernetes/pkg/controller/volume/persistentvolume"
	"k8s.io/kubernetes/pkg/controller/volume/pvcprotection"
	"k8s.io/kubernetes/pkg/controller/volume/pvprotection"
	tokens "k8s.io/kubernetes/pkg/serviceaccount"
)

// constructors make the controllers, by upstream's names, from what upstream's
// cmd/kube-controller-manager/app makes them of, with the numbers of workers that it sets by
// default. What they return runs one.
var constructors = map[string]func(context.Context, *manager) (func(context.Context), error){
	"garbage-collector-controller": collector,
	"namespace-controller":         namespaces,
	"deployment-controller": with("deployment-controller",
		func(ctx context.Context, m *manager, c kubernetes.Interface) (func(context.Context), error) {
			apps := m.informers.Apps().V1()
			d, err := deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(),
				m.informers.Core().V1().Pods(), c)
			return func(ctx context.Context) { d.Run(ctx, 5) }, err
		}),
	"replicaset-controller": with("replicaset-controller",
		func(ctx context.Context, m *manager, c kubernetes.Interface) (func(context.Context), error) {
			r := replicaset.NewReplicaSetController(ctx, m.informers.Apps().V1().ReplicaSets(), m.informers.Core().V1().Pods(),
				c, replicaset.BurstReplicas)
			return func(ctx context.Context) { r.Run(ctx, 5) }, nil
		}),
	"replicationcontroller-controller": with("replication-controller",
		func(ctx context.Context, m *manager, c kubernetes.Interface) (func(context.Context), error) {
			core := m.informers.Core().V1()
			r := replication.NewReplicationManager(ctx, core.Pods(), core.ReplicationControllers(), c, replication.BurstReplicas)
			return func(ctx context.Context) { r.Run(ctx, 5) }, nil
		}),
	"statefulset-controller": with("statefulset-controller",
		func(ctx context.Context, m *manager, c kubernetes.Interface) (func(context.Context), error) {
			apps, core := m.informers.Apps().V1(), m.informers.Core().V1()
			s := statefulset.NewStatefulSetController(ctx, core.Pods(), apps.StatefulSets(), core.PersistentVolumeClaims(),
				apps.ControllerRevisions(), c)
			return func(ctx context.Context) { s.Run(ctx, 5) }, nil
		}),
	"daemonset-controller": with("daemon-set-controller",
		func(ctx context.Context, m *manager, c kubernetes.Interface) (func(context.Context), error) {
			apps, core := m.informers.Apps().V1(), m.informers.Core().V1()
			d, err := daemon.NewDaemonSetsController(ctx, apps.DaemonSets(), apps.ControllerRevisions(), core.Pods(),
				core.Nodes(), c, flowcontrol.NewBackOff(time.Second, 15*time.Minute))
			return func(ctx context.Context) { d.Run(ctx, 2) }, err
		}),
	"job-controller": with("job-controller",
		func(ctx context.Context, m *manager, c kubernetes.Interface) (func(context.Context), error) {
			j, err := job.NewController(ctx, c, m.informers.Core().V1().Pods(), m.informers.Batch().V1().Jobs(), nil, nil)
			return func(ctx context.Context) { j.Run(ctx, 5) }, err
		}),
	"cronjob-controller": with("cronjob-controller",
		func(ctx context.Context, m *manager, c kubernetes.Interface) (func(context.Context), error) {
			j, err := cronjob.NewControllerV2(ctx, m.informers.Batch().V1().Jobs(), m.informers.Batch().V1().CronJobs(), c)
			return func(ctx context.Context) { j.Run(ctx, 5) }, err
		}),
	"endpoints-controller": with("endpoint-controller",
		func(ctx context.Context, m *manager, c kubernetes.Interface) (func(context.Context), error) {
			core := m.informers.Core().V1()
			e := endpoint.NewEndpointController(ctx, core.Pods(), core.Services(), core.Endpoints(), c, 0)
			return func(ctx context.Context) { e.Run(ctx, 5) }, nil
		}),
	"endpointslice-controller": with("endpointslice-controller",
		func(ctx context.Context, m *manager, c kubernetes.Interface) (func(context.Context), error) {
			core := m.informers.Core().V1()
			e := endpointslice.NewController(ctx, core.Pods(), core.Services(), core.Nodes(),
				m.informers.Discovery().V1().EndpointSlices(), 100, c, 0)
			return func(ctx context.Context) { e.Run(ctx, 5) }, nil
		}),
	// It binds volumes that exist. Without plugins it provisions and recycles none.
	"persistentvolume-binder-controller": with("persistent-volume-binder",
		func(ctx context.Context, m *manager, c kubernetes.Interface) (func(context.Context), error) {
			core := m.informers.Core().V1()
			b, err := persistentvolume.NewController(ctx, persistentvolume.ControllerParameters{
				KubeClient: c, SyncPeriod: 15 * time.Second, VolumeInformer: core.PersistentVolumes(),
				ClaimInformer: core.PersistentVolumeClaims(),
				ClassInformer: m.informers.Storage().V1().StorageClasses(), PodInformer: core.Pods(), NodeInformer: core.Nodes(),
			})
			return func(ctx context.Context) { b.Run(ctx) }, err
		}),
	"persistentvolumeclaim-protection-controller": with("pvc-protection-controller",
		func(ctx context.Context, m *manager, c kubernetes.Interface) (func(context.Context), error) {
			core := m.informers.Core().V1()
			p, err := pvcprotection.NewPVCProtectionController(klog.FromContext(ctx), core.PersistentVolumeClaims(),
				core.Pods(), c)
			return func(ctx context.Context) { p.Run(ctx, 1) }, err
		}),
	"persistentvolume-protection-controller": with("pv-protection-controller",
		func(ctx context.Context, m *manager, c kubernetes.Interface) (func(context.Context), error) {
			p, err := pvprotection.NewPVProtectionController(klog.FromContext(ctx),
				m.informers.Core().V1().PersistentVolumes(), c)
			return func(ctx context.Context) { p.Run(ctx, 1) }, err
		}),
	"serviceaccount-token-controller": with("tokens-controller",
		func(ctx context.Context, m *manager, c kubernetes.Interface) (func(context.Context), error) {
			key, err := keyutil.PrivateKeyFromFile(m.tokenKey)
			if err != nil {
				return nil, err
			}
			generator, err := tokens.JWTTokenGenerator(tokens.LegacyIssuer, key)
			if err != nil {
				return nil, err
			}
			core := m.informers.Core().V1()
			t, err := serviceaccount.NewTokensController(klog.FromContext(ctx), core.ServiceAccounts(), core.Secrets(), c,
				serviceaccount.TokensControllerOptions{TokenGenerator: generator})
			return func(ctx context.Context) { t.Run(ctx, 5) }, err
		}),
	"clusterrole-aggregation-controller": with("clusterrole-aggregation-controller",
		func(_ context.Context, m *manager, c kubernetes.Interface) (func(context.Context), error) {
			r := clusterroleaggregation.NewClusterRoleAggregation(m.informers.Rbac().V1().ClusterRoles(), c.RbacV1())
			return func(ctx context.Context) { r.Run(ctx, 5) }, nil
		}),
}

// with makes a controller's client first.
func with(user string, construct func(context.Context, *manager, kubernetes.Interface) (func(context.Context),
	error)) func(context.Context, *manager) (func(context.Context), error) {
	return func(ctx context.Context, m *manager) (func(context.Context), error) {
		client, err := m.client(user)
		if err != nil {
			return nil, err
		}
		return construct(ctx, m, client)
	}
}

// collector makes the garbage collector. Each deletion takes it two requests, so it may make twice
// as many.
func collector(ctx context.Context, m *manager) (func(context.Context), error) {
	config := m.configFor("generic-garbage-collector")
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	config.QPS *= 2
	objects, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	graph := garbagecollector.NewDependencyGraphBuilder(ctx, m.metadata, m.mapper,
		garbagecollector.DefaultIgnoredResources(), m.any, m.started)
	gc, err := garbagecollector.NewComposedGarbageCollector(ctx, client, objects, m.mapper, graph)
	if err != nil {
		return nil, err
	}
	const period = 30 * time.Second
	return func(ctx context.Context) {
		go gc.Sync(ctx, client.Discovery(), period)
		gc.Run(ctx, 20, period)
	}, nil
}

// namespaces makes the namespace controller, which may make many more requests than the others: it
// asks for every type.
func namespaces(ctx context.Context, m *manager) (func(context.Context), error) {
	config := m.configFor("namespace-controller")
	config.QPS *= 20
	config.Burst *= 100
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	objects, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	n := namespace.NewNamespaceController(ctx, client, objects, client.Discovery().ServerPreferredNamespacedResources,
		m.informers.Core().V1().Namespaces(), 5*time.Minute, v1.FinalizerKubernetes)
	return func(ctx context.Context) { n.Run(ctx, 10) }, nil
}
