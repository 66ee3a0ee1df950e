package main

import "time"

const (
	mul        = 6364136223846793005
	inc        = 1442695040888963407
	foldFactor = 0x9E3779B97F4A7C15
	capacity   = 1024
)

// zero is never written; the compiler must load it, so it cannot shorten the loop below.
var zero uint64

// spin runs steps steps, of four dependent multiply-xors each, from x; bench/src/work.rs explains this loop.
//
//go:noinline
func spin(x, steps, zero uint64) uint64 {
	for left := steps; left != 0; left = left - 1 + (x & zero) {
		x = x*mul ^ inc
		x = x*mul ^ inc
		x = x*mul ^ inc
		x = x*mul ^ inc
	}
	return x
}

// stage is a serial stage of the chain: each piece of work depends on the previous one.
type stage struct{ steps, zero, last uint64 }

func (s *stage) run(x uint64) uint64 {
	if s.steps == 0 {
		return x + 1
	}
	s.last = spin(x+1+(s.last&s.zero), s.steps, s.zero)
	return s.last
}

func fold(h, x uint64) uint64 { return h*foldFactor + x }

func mix(i uint64) uint64 {
	z := i + foldFactor
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return z ^ (z >> 31)
}

// calibrate returns the seconds of one step: the fastest of many short runs.
func calibrate() (float64, uint64) {
	const steps = 50_000
	fastest, sum, z := time.Hour, uint64(0), zero
	for run := uint64(0); run < 60; run++ {
		start := time.Now()
		sum += spin(run, steps, z)
		fastest = min(fastest, time.Since(start))
	}
	return fastest.Seconds() / steps, sum
}
