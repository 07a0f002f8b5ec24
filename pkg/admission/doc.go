// Package admission says which webhooks and admission policies the API server asks about a write,
// and which Services it calls for these, for aggregated APIs and for conversions. It has no client.
package admission
