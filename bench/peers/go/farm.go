package main

import (
	"sort"
	"sync"
	"time"
)

type result struct{ index, value uint64 }

// farm runs a source, one worker for each thread, and a sink that restores the order of the results.
func farm(items uint64, threads int, table []uint64) (float64, uint64) {
	z := zero
	start := time.Now()
	tasks, done := make(chan uint64, capacity), make(chan result, capacity)
	go func() {
		for i := uint64(0); i < items; i++ {
			tasks <- i
		}
		close(tasks)
	}()
	var workers sync.WaitGroup
	for w := 0; w < threads; w++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for i := range tasks {
				scattered := mix(i)
				done <- result{i, spin(scattered, table[scattered>>54], z)}
			}
		}()
	}
	go func() {
		workers.Wait()
		close(done)
	}()
	sum := inOrder(done)
	return time.Since(start).Seconds(), sum
}

// small runs a short farm many times, and returns the median time.
func small(jobs, items uint64, threads int, table []uint64) (float64, uint64) {
	times, sum := make([]float64, max(jobs, 1)), uint64(0)
	for i := range times {
		times[i], sum = farm(items, threads, table)
	}
	sort.Float64s(times)
	return times[len(times)/2], sum
}

// inOrder folds the results in the order of their indices; the window grows if results are too far ahead.
func inOrder(done chan result) uint64 {
	values, present := make([]uint64, capacity), make([]bool, capacity)
	sum, next := uint64(0), uint64(0)
	for r := range done {
		for r.index-next >= uint64(len(values)) {
			values, present = grow(values, present, next)
		}
		mask := uint64(len(values) - 1)
		values[r.index&mask], present[r.index&mask] = r.value, true
		for present[next&mask] {
			present[next&mask] = false
			sum = fold(sum, values[next&mask])
			next++
		}
	}
	return sum
}

// grow doubles the window that starts at index next.
func grow(values []uint64, present []bool, next uint64) ([]uint64, []bool) {
	size := uint64(len(values))
	v, p := make([]uint64, 2*size), make([]bool, 2*size)
	for i := next; i < next+size; i++ {
		v[i&(2*size-1)], p[i&(2*size-1)] = values[i&(size-1)], present[i&(size-1)]
	}
	return v, p
}
