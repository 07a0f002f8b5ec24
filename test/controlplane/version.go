package main

import (
	"runtime/debug"
	_ "unsafe" // for go:linkname

	"k8s.io/component-base/version"
)

// gitVersion is what Kubernetes' own build sets with -ldflags -X. Here the build list knows the
// version already, and no command line has to repeat it.
//
//go:linkname gitVersion k8s.io/component-base/version.gitVersion
var gitVersion string

// useModuleVersion makes all components report the version of k8s.io/kubernetes that they were
// built from.
func useModuleVersion() {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return
	}
	for _, module := range info.Deps {
		if module.Path != "k8s.io/kubernetes" {
			continue
		}
		previous := gitVersion
		gitVersion = module.Version
		if version.SetDynamicVersion(module.Version) != nil {
			gitVersion = previous
		}
	}
}
