// Package ownership finds ownership that no ownerReference records: what objects name in their
// content, by the links of packs. It reads objects of the kinds that have links, and of these only
// the ones that are reached, in lists.
package ownership
