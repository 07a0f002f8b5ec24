package cmd

import (
	"github.com/spf13/cobra"
)

// The groups of commands in the help of the root.
var groups = []*cobra.Group{
	{ID: "look", Title: "Look:"},
	{ID: "delete", Title: "Delete and collect:"},
	{ID: "repair", Title: "Repair and save:"},
	{ID: "other", Title: "Other:"},
}

// helpTemplate is cobra's without the blank line of the root, for which its screen has no room.
const helpTemplate = `{{with (or .Long .Short)}}{{. | trimTrailingWhitespaces}}
{{end}}{{if .HasParent}}
{{end}}{{if or .Runnable .HasSubCommands}}{{.UsageString}}{{end}}`

// rootTemplate fits on a screen of 24 lines. What all commands take is left to kubectl gc options.
const rootTemplate = `{{$commands := .Commands}}{{range .Groups}}{{.Title}}
{{$id := .ID}}{{range $commands}}{{if and (eq .GroupID $id) .IsAvailableCommand}}  {{rpad .Name 11}} {{.Short}}
{{end}}{{end}}{{end}}Usage: kubectl gc COMMAND [TYPE/NAME ...] [flags]; COMMAND -h says more.
`

// usageTemplate gives a subcommand a usage text without the connection flags, which would hide its
// own.
const usageTemplate = `Usage:
  {{.UseLine}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalNonPersistentFlags.FlagUsagesWrapped 100 | trimTrailingWhitespaces}}{{end}}

Use "kubectl gc options" for the flags that all commands take.
`

// addGroup adds commands in the group of an ID.
func addGroup(root *cobra.Command, id string, commands ...*cobra.Command) {
	for _, cmd := range commands {
		cmd.GroupID = id
		cmd.SetUsageTemplate(usageTemplate)
	}
	root.AddCommand(commands...)
}
