// Package browser tests what kubectl gc draws, in the programs that people look at it with: the
// pages of -o html in Chromium, -o dot in Graphviz, -o mermaid in Mermaid's own renderer.
//
// It is a module of its own, so that what drives the browser stays out of the plugin's go.mod.
// "make browser" installs what it needs, and "make test-browser" runs it. Screenshots are written
// to the folder screenshots, for somebody to look at.
package browser
