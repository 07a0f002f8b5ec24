// Package page writes one page of HTML that shows a tree, or a plan, in a browser, without a server
// and without the network.
//
// It knows no cluster and decides nothing: it writes what a Page says. What objects supply goes
// into a block of JSON, which the page's script shows as text.
package page
