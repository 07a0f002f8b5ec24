package graph

import (
	"cmp"
	"path"
)

// KindPattern names kinds as path.Match has patterns: "v1/Pod" of the core, "apps/Deployment",
// "apps/*", "*.azure.com/*", "*/ServiceExport", or "*" for all.
type KindPattern string

// Matches says whether the pattern is about a kind. The group of the core is empty.
func (p KindPattern) Matches(group, kind string) bool {
	if p == "*" {
		return true
	}
	ok, err := path.Match(string(p), cmp.Or(group, "v1")+"/"+kind)
	return err == nil && ok
}
