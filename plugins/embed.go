// Package plugins holds what plugs kubectl gc into other programs.
package plugins

import _ "embed"

// CompletionShim is the script that kubectl runs to complete the arguments of kubectl gc.
//
//go:embed kubectl_complete-gc
var CompletionShim string
