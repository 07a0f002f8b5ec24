// Package faultproxy is a proxy between a client and a real API server that records requests and
// breaks chosen responses in ways that a healthy server would not.
package faultproxy
