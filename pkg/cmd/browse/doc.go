// Package browse shows a list on a terminal, of which one entry at a time is opened, and returns
// what is to be done about one. It does nothing itself, and asks nothing.
package browse
