package env

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/ownerref"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// PrintChange prints what was, or with a dry run would be, done to the references of an object, in
// kubectl's words. With the error of a change that was not made only an object for programs is
// printed.
func (m *Mutation) PrintChange(c *ownerref.Change, failed error, words func(*ownerref.Change, string) string) error {
	if !m.Output.IsOwn() {
		var object Document = c.Result(failed)
		if m.DryRun != "none" && failed == nil {
			object = c.Printed()
		}
		return m.Output.Write(m.Out, object)
	}
	if failed != nil {
		return nil
	}
	if m.Output.Format() == "name" {
		_, err := fmt.Fprintln(m.Out, render.TypeName(c.Object))
		return err
	}
	suffix := map[string]string{"client": " (dry run)", "server": " (server dry run)"}[m.DryRun]
	_, err := fmt.Fprintln(m.Out, words(c, suffix))
	return err
}
