// Package admission reads what the API server asks before it stores or deletes an object: webhooks,
// admission policies, and the Services that it calls for these, for aggregated APIs and for
// conversions. It says which of them are called for a write. It has no client.
package admission
