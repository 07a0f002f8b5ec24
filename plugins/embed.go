// Package plugins embeds the packs of known finalizers, and the scripts through which kubectl
// completes kubectl gc.
package plugins

import (
	"embed"
	"io/fs"
)

// CompletionShim is the script that kubectl runs to complete the arguments of kubectl gc.
//
//go:embed kubectl_complete-gc
var CompletionShim string

// WindowsCompletionShim is CompletionShim for Windows, where the file is called
// kubectl_complete-gc.cmd.
//
//go:embed kubectl_complete-gc.cmd
var WindowsCompletionShim string

// Known is what finalizer.Read reads: the packs, in a form that is read faster. UPDATE_LINKS=1 go
// test ./plugins writes it.
//
//go:embed known.json
var Known []byte

// Links is Known with nothing but the links.
//
//go:embed links.json
var Links []byte

//go:embed packs/*.yaml
var packs embed.FS

// Packs returns the packs that come with the plugin: what is known of one ecosystem each, in a file
// each.
func Packs() (fs.FS, error) { return fs.Sub(packs, "packs") }
