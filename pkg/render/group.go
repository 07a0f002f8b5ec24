package render

import "iter"

// groups are what is to be said of items, by what they have in common: of says both of an item. They
// come in the order in which the keys come up.
func groups[T any, K comparable, V any](items []T, of func(T) (K, V)) iter.Seq2[K, []V] {
	var keys []K
	values := map[K][]V{}
	for _, item := range items {
		key, value := of(item)
		if values[key] == nil {
			keys = append(keys, key)
		}
		values[key] = append(values[key], value)
	}
	return func(yield func(K, []V) bool) {
		for _, key := range keys {
			if !yield(key, values[key]) {
				return
			}
		}
	}
}
