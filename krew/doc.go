// Package krew holds the template of the manifest with which krew installs the plugin, and makes
// what a release consists of: its manifest, notes and archives.
package krew
