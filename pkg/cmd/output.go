package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
)

// outputFlags are -o and what goes with it.
type outputFlags struct {
	// own are the formats that the command prints itself, besides the table that is printed without -o.
	own   []string
	print *genericclioptions.PrintFlags
}

func newOutputFlags(own ...string) *outputFlags {
	return &outputFlags{own: own, print: genericclioptions.NewPrintFlags("")}
}

func (o *outputFlags) formats() []string {
	// The name printer of cli-runtime wants one object with metadata; where it makes sense, the command prints names itself.
	generic := slices.DeleteFunc(o.print.AllowedFormats(), func(f string) bool { return f == "name" })
	return append(slices.Clone(o.own), generic...)
}

func (o *outputFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(o.print.OutputFormat, "output", "o", "", "Output format. One of: ("+strings.Join(o.formats(), ", ")+")")
	o.print.TemplatePrinterFlags.AddFlags(cmd)
	cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(o.formats(), cobra.ShellCompDirectiveNoFileComp))
}

// format returns the format if it is one of the command's own, empty for the table.
func (o *outputFlags) format() string { return *o.print.OutputFormat }

// isOwn says whether the command prints the format itself.
func (o *outputFlags) isOwn() bool { return o.format() == "" || slices.Contains(o.own, o.format()) }

// validate finds a format that does not exist, or a template that does not parse, before anything is asked of the server.
func (o *outputFlags) validate(cmd *cobra.Command) error {
	if o.isOwn() {
		return nil
	}
	if _, err := o.printer(); err != nil {
		return usageError{err, cmd.CommandPath()}
	}
	return nil
}

func (o *outputFlags) printer() (printers.ResourcePrinter, error) {
	if o.format() == "name" {
		return nil, fmt.Errorf("unable to match a printer suitable for the output format \"name\", allowed formats are: %s", strings.Join(o.formats(), ","))
	}
	p, err := o.print.ToPrinter()
	if genericclioptions.IsNoCompatiblePrinterError(err) {
		return nil, fmt.Errorf("unable to match a printer suitable for the output format %q, allowed formats are: %s", o.format(), strings.Join(o.formats(), ","))
	}
	return p, err
}

// write prints an object in one of the formats of cli-runtime.
func (o *outputFlags) write(w io.Writer, object runtime.Object) error {
	p, err := o.printer()
	if err != nil {
		return err
	}
	return p.PrintObj(object, w)
}
