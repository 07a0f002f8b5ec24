package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// roleClaim measures the tree of a claim of Crossplane, and the plan of its deletion: a link leads
// to its composite, which owns many managed resources.
const roleClaim = "claim"

const (
	managedResources = 500
	claimTree        = time.Second
	claimPlan        = 1500 * time.Millisecond
)

func benchClaim(ctx context.Context, args []string) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	if o.kubeconfig != "" {
		return errors.New("-kubeconfig is not for the claim: it installs types of its own, on a control plane of its own")
	}
	return inSession(ctx, o, startPlane, func(ctx context.Context, s *session, _ *plane) error {
		if err := s.loadClaim(ctx); err != nil {
			return err
		}
		if err := s.measureClaim(ctx); err != nil {
			return err
		}
		return printTable(os.Stdout, s.rows)
	})
}

// loadClaim creates the claim and all below it, and waits until the server has digested them.
func (s *session) loadClaim(ctx context.Context) error {
	say("creating a claim, its composite and %d managed resources", managedResources)
	for _, k := range crossplaneKinds {
		if err := s.install(ctx, k); err != nil {
			return err
		}
	}
	composite, err := s.createOf(ctx, xDatabases, newComposite())
	if err != nil {
		return err
	}
	if _, err := s.createOf(ctx, databases, newClaim()); err != nil {
		return err
	}
	owner := metav1.NewControllerRef(composite, composite.GroupVersionKind())
	err = side(ctx, s.writers, managedResources, func(ctx context.Context, i int) error {
		_, err := s.createOf(ctx, buckets, newManaged(i, *owner))
		return err
	})
	if err != nil {
		return err
	}
	return settle(ctx, s.kubeconfig)
}

// measureClaim measures the tree of the claim, the plan of its deletion and, for what the link
// costs, the tree of its composite without links.
func (s *session) measureClaim(ctx context.Context) error {
	tree := []string{"tree", databases.resource + "/" + claimName, "-n", claimNamespace}
	c := command{name: "kubectl gc tree", args: append(append([]string{s.plugin}, tree...), "-o", "name"),
		env: s.env(place{kubeconfig: s.kubeconfig})}
	out, err := c.output(ctx)
	if err != nil {
		return err
	}
	if got, want := bytes.Count(out, []byte("\n")), 2+managedResources; got != want {
		return fmt.Errorf("the tree of the claim shows %d objects, not the %d that were created", got, want)
	}
	near, far := place{s.kubeconfig, ""}, place{s.farKubeconfig, fmt.Sprintf("%s away: ", s.delay)}
	composite := s.row(near, "kubectl gc", s.plugin, "tree", xDatabases.resource+"/"+compositeName, "--links=false")
	claim := s.row(near, "kubectl gc", s.plugin, tree...)
	claim.aims = []aim{wallUnder(claimTree), ratioTo(composite, 0)}
	plan := s.row(near, "kubectl gc", s.plugin, "delete", databases.resource+"/"+claimName, "-n", claimNamespace,
		"--cascade=foreground", "--dry-run=client")
	plan.aims = []aim{wallUnder(claimPlan)}
	rows := []*row{composite, claim, plan}
	if s.delay > 0 {
		claimFar := s.row(far, "kubectl gc", s.plugin, tree...)
		claimFar.aims = []aim{wallUnder(claimTree)}
		rows = append(rows, claimFar)
	}
	return s.measure(ctx, rows...)
}
