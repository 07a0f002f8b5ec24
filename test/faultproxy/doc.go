// Package faultproxy stands between a client and a real API server, records what is asked and makes a mess of chosen
// answers: what a test cannot get a healthy server to do.
package faultproxy
