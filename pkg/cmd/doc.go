// Package cmd is the command line: it turns flags and arguments into requests to the other
// packages, and what they return into output and an exit code. It decides nothing about objects.
package cmd
