package main

import (
	"context"
	"os/exec"
	"strings"
)

// peers measures the programs that answer one of the same questions and are installed. They take
// long, so each runs once.
func (s *session) peers(ctx context.Context) error {
	for _, peer := range []struct {
		names    []string   // that its installers give it
		commands [][]string // arguments
	}{
		{[]string{"kubectl-tree"}, [][]string{
			{"-A", "clusterrole", rootName},
			{"-n", s.namespace, "deployment", s.deployment},
		}},
		{[]string{"kube-lineage", "kubectl-lineage"}, [][]string{
			{"-A", "clusterrole/" + rootName},
			{"-n", s.namespace, "deployment/" + s.deployment},
		}},
		{[]string{"kubectl-check-ownerreferences", "kubectl-check_ownerreferences"}, [][]string{{}}},
	} {
		program, found := lookUp(peer.names)
		if !found {
			s.add(&row{label: peer.names[0], note: "not found"})
			continue
		}
		for _, args := range peer.commands {
			if err := s.peer(ctx, peer.names[0], program, args); err != nil {
				return err
			}
		}
	}
	return nil
}

// peer measures one command. That it fails is a result; the error is for a benchmark that was
// interrupted.
func (s *session) peer(ctx context.Context, name, program string, args []string) error {
	r := s.row(place{kubeconfig: s.kubeconfig}, name, program, args...)
	say("1/1 %s", r.label)
	u, err := s.meter.run(ctx, r.command)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		first, _, _ := strings.Cut(err.Error(), "\n")
		r.note, r.why = "failed", first
	default:
		r.runs = runs{u}
	}
	return nil
}

func lookUp(names []string) (path string, found bool) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	return "", false
}
