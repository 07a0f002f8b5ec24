package main

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	namespaces   = corev1.SchemeGroupVersion.WithResource("namespaces")
	configMaps   = corev1.SchemeGroupVersion.WithResource("configmaps")
	pods         = corev1.SchemeGroupVersion.WithResource("pods")
	deployments  = appsv1.SchemeGroupVersion.WithResource("deployments")
	replicaSets  = appsv1.SchemeGroupVersion.WithResource("replicasets")
	clusterRoles = rbacv1.SchemeGroupVersion.WithResource("clusterroles")
)

// manyObjects are the types of which there are many.
var manyObjects = []schema.GroupVersionResource{pods, replicaSets, deployments, configMaps}

// The field managers under which the objects are made.
const (
	controllerManager = "kube-controller-manager"
	releaseManager    = "helm"
)

// load fills the cluster with as many objects as the flags say.
func load(ctx context.Context, kubeconfig string, o options) error {
	c, err := newCreator(kubeconfig)
	if err != nil {
		return err
	}
	s := shapeOf(o.objects)
	begin := time.Now()
	stop := c.report(s.objects())
	defer stop()
	root, wide := newClusterRole(rootName), newClusterRole(wideName)
	for _, owner := range []*rbacv1.ClusterRole{root, wide} {
		if err := c.create(ctx, clusterRoles, releaseManager, owner); err != nil {
			return err
		}
	}
	if err := side(ctx, o.writers, s.namespaces, func(ctx context.Context, i int) error {
		return c.create(ctx, namespaces, releaseManager, newNamespace(namespaceName(i)))
	}); err != nil {
		return err
	}
	if err := side(ctx, o.writers, s.deployments, func(ctx context.Context, i int) error {
		namespace, name := s.deploymentName(i)
		if i < s.namespaces {
			return c.application(ctx, newDeployment(namespace, name, *clusterRoleReference(wide)))
		}
		return c.application(ctx, newDeployment(namespace, name))
	}); err != nil {
		return err
	}
	if err := side(ctx, o.writers, s.configMaps, func(ctx context.Context, i int) error {
		namespace, name := s.configMapName(i)
		if i < rootDependents {
			return c.create(ctx, configMaps, releaseManager, newConfigMap(namespace, name, clusterRoleReference(root)))
		}
		return c.create(ctx, configMaps, releaseManager, newConfigMap(namespace, name, nil))
	}); err != nil {
		return err
	}
	taken := time.Since(begin)
	say("loaded %d objects in %s, %.0f a second", c.created.Load(), taken.Round(time.Second),
		float64(c.created.Load())/taken.Seconds())
	return settle(ctx, kubeconfig)
}

// application creates a deployment and what its controllers would make of it.
func (c *creator) application(ctx context.Context, d *appsv1.Deployment) error {
	if err := c.create(ctx, deployments, releaseManager, d); err != nil {
		return err
	}
	for revision := range replicaSetsOfDeployment {
		rs := newReplicaSet(d, revision+1)
		if err := c.create(ctx, replicaSets, controllerManager, rs); err != nil {
			return err
		}
		for i := range podsOfReplicaSet {
			if err := c.create(ctx, pods, controllerManager, newPod(rs, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// side calls f with 0 to n-1, some at a time.
func side(ctx context.Context, atATime, n int, f func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atATime)
	for i := range n {
		group.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return f(ctx, i)
		})
	}
	return group.Wait()
}

// report says now and then how far the loading has come, until stop is called.
func (c *creator) report(all int) (stop func()) {
	ticker, done := time.NewTicker(10*time.Second), make(chan struct{})
	go func() {
		for {
			select {
			case <-ticker.C:
				say("loaded %d of %d objects", c.created.Load(), all)
			case <-done:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(done)
	}
}
