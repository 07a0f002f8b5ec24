// Package render turns results into text: tables, trees, DOT, Mermaid and the versioned objects of
// pkg/api. It is the only package that imports tablewriter and color, and the last line of defence
// against what an object's strings could do to a terminal.
package render
