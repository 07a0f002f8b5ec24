package cluster

import (
	"context"
	"sync"
)

// answered remembers an answer that one caller asked for and all others use.
type answered[T any] struct {
	mu     sync.Mutex
	answer *T
}

// once returns the answer, which ask gets from the server if nobody has asked. Whoever gives up
// while asking does not take the answer along: what ask returned when ctx has ended is not
// remembered, and the next caller asks again.
func (a *answered[T]) once(ctx context.Context, ask func() T) T {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answer != nil {
		return *a.answer
	}
	answer := ask()
	if ctx.Err() == nil {
		a.answer = &answer
	}
	return answer
}

// asked remembers answers, errors too, by what was asked. Its zero value is ready to use.
type asked[K comparable, T any] struct {
	mu      sync.Mutex
	answers map[K]*answered[result[T]]
}

type result[T any] struct {
	value T
	err   error
}

// once returns the answer about a key, as answered does.
func (a *asked[K, T]) once(ctx context.Context, key K, ask func() (T, error)) (T, error) {
	a.mu.Lock()
	if a.answers == nil {
		a.answers = map[K]*answered[result[T]]{}
	}
	of := a.answers[key]
	if of == nil {
		of = &answered[result[T]]{}
		a.answers[key] = of
	}
	a.mu.Unlock()
	got := of.once(ctx, func() result[T] {
		value, err := ask()
		return result[T]{value, err}
	})
	return got.value, got.err
}
