package main

import (
	"strconv"
	"strings"
	"sync"
	"time"
)

// batch is the number of lines in a message.
const batch = 64

var lineWords = [8]string{"river", "to", "bed", "of", "a", "channel", "in", "stones"}

// line makes the line of bench/src/owned/text.rs.
func line(index uint64) string {
	text := make([]byte, 0, 120)
	for place := uint64(0); place < 8; place++ {
		text = append(text, lineWords[(index*5+place*11)%8]...)
		text = append(text, ' ')
		text = strconv.AppendUint(text, index*(place+1)%1000, 10)
		text = append(text, ' ')
	}
	return string(text)
}

// sum is what the sequential end computes: see bench/src/owned/mod.rs.
type sum struct {
	next, digest uint64
	counts       map[string]uint64
}

func (s *sum) value(value uint64) {
	s.digest += mix(s.next) * value
	s.next++
}

func (s *sum) checksum() uint64 {
	all := s.digest
	for word, n := range s.counts {
		hash := uint64(0)
		for i := 0; i < len(word); i++ {
			hash = fold(hash, uint64(word[i]))
		}
		all += hash * n
	}
	return all
}

// numbered is a message with its place in the order.
type numbered[T any] struct {
	index uint64
	items []T
}

// lines sends all lines in batches.
func lines(items uint64) chan numbered[string] {
	to := make(chan numbered[string], capacity/batch)
	go func() {
		for at := uint64(0); at < items; {
			message := numbered[string]{at / batch, make([]string, 0, batch)}
			for end := min(at+batch, items); at < end; at++ {
				message.items = append(message.items, line(at))
			}
			to <- message
		}
		close(to)
	}()
	return to
}

// through starts a goroutine that applies f to all items.
func through[T, U any](from chan numbered[T], f func(T) U) chan numbered[U] {
	to := make(chan numbered[U], capacity/batch)
	go func() {
		for message := range from {
			to <- numbered[U]{message.index, each(message.items, f)}
		}
		close(to)
	}()
	return to
}

func each[T, U any](message []T, f func(T) U) []U {
	results := make([]U, len(message))
	for i, item := range message {
		results[i] = f(item)
	}
	return results
}

func underscored(text string) string { return strings.ReplaceAll(text, " ", "_") }

// ownedStages runs a goroutine for each stage.
func ownedStages(items uint64) (float64, uint64) {
	start := time.Now()
	changed := through(through(lines(items), strings.ToUpper), underscored)
	lengths := through(changed, func(text string) uint64 { return uint64(len(text)) })
	s := sum{}
	for message := range lengths {
		for _, length := range message.items {
			s.value(length)
		}
	}
	return time.Since(start).Seconds(), s.checksum()
}

// ownedFarm runs a worker for each thread, and adds up the results in the order of the lines.
func ownedFarm[T any](items uint64, threads int, f func(string) T, add func(*sum, T)) (float64, uint64) {
	start := time.Now()
	tasks, done := lines(items), make(chan numbered[T], capacity/batch)
	var workers sync.WaitGroup
	for w := 0; w < threads; w++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for task := range tasks {
				done <- numbered[T]{task.index, each(task.items, f)}
			}
		}()
	}
	go func() {
		workers.Wait()
		close(done)
	}()
	s := sum{counts: map[string]uint64{}}
	early, next := map[uint64][]T{}, uint64(0)
	for result := range done {
		early[result.index] = result.items
		for items, ok := early[next]; ok; items, ok = early[next] {
			delete(early, next)
			for _, item := range items {
				add(&s, item)
			}
			next++
		}
	}
	return time.Since(start).Seconds(), s.checksum()
}

func ownedMap(items uint64, threads int) (float64, uint64) {
	upper := func(text string) string { return underscored(strings.ToUpper(text)) }
	return ownedFarm(items, threads, upper, func(s *sum, text string) { s.value(uint64(len(text))) })
}

func ownedWords(items uint64, threads int) (float64, uint64) {
	// Words are copies, as in the other languages.
	words := func(text string) []string { return each(strings.Fields(text), strings.Clone) }
	return ownedFarm(items, threads, words, func(s *sum, words []string) {
		length := 0
		for _, word := range words {
			length += len(word)
		}
		s.value(uint64(length))
		for _, word := range words {
			s.counts[word]++
		}
	})
}
