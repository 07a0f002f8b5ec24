package docs

import (
	"bytes"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// Man returns a man page for a command and for each below it that help would show, as of a date:
// kubectl-gc.1, kubectl-gc-tree.1 and so on. The connection flags stand in the page of the root
// alone.
func Man(root *cobra.Command, version string, date time.Time) ([]Page, error) {
	forgetCacheDir(root.PersistentFlags())
	var pages []Page
	for _, cmd := range append([]*cobra.Command{root}, listed(root)...) {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		header := &doc.GenManHeader{Title: strings.ToUpper(name), Section: "1", Date: &date, Source: "kubectl gc " + version,
			Manual: "kubectl gc"}
		cmd.DisableAutoGenTag = true
		var b bytes.Buffer
		if err := doc.GenMan(cmd, header, &b); err != nil {
			return nil, err
		}
		pages = append(pages, Page{File: name + ".1", Text: withoutInherited(b.String())})
	}
	return pages, nil
}

// withoutInherited leaves out the section with the flags that all commands take.
func withoutInherited(page string) string {
	const section = ".SH OPTIONS INHERITED FROM PARENT COMMANDS\n"
	before, inherited, found := strings.Cut(page, section)
	if !found {
		return page
	}
	_, after, more := strings.Cut(inherited, "\n.SH ")
	page = before + ".SH CONNECTION OPTIONS\nkubectl-gc(1) lists the flags that all commands take, which are those of kubectl.\n"
	if more {
		page += ".SH " + after
	}
	return page
}
