package env

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// CheckOne checks that arguments name one object, as TYPE/NAME or TYPE NAME.
func CheckOne(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && strings.Count(args[0], "/") == 1 || len(args) == 2 && !strings.Contains(args[0]+args[1], "/") {
		return nil
	}
	return Usage(cmd, "you must specify one object: TYPE/NAME or TYPE NAME")
}

// One finds out which object is meant, and what was asked of its server.
func (e *Env) One(ctx context.Context, args []string) (*selection.Query, selection.Object, error) {
	q, err := e.Query(ctx, &Objects{}, args)
	if err != nil {
		return nil, selection.Object{}, err
	}
	if len(q.Objects) != 1 {
		return nil, selection.Object{},
			fmt.Errorf("%s means %d objects, and one is changed at a time", strings.Join(args, " "), len(q.Objects))
	}
	return q, q.Objects[0], nil
}
