package main

import "time"

// chain runs one goroutine for each stage with a buffered channel between neighbours.
func chain(stages int, items, steps uint64) (float64, uint64) {
	z := zero
	start := time.Now()
	first := make(chan uint64, capacity)
	go func() {
		s := stage{steps, z, 0}
		for i := uint64(0); i < items; i++ {
			first <- s.run(i)
		}
		close(first)
	}()
	upstream := first
	for n := 0; n < stages-2; n++ {
		from, next := upstream, make(chan uint64, capacity)
		go func() {
			s := stage{steps, z, 0}
			for x := range from {
				next <- s.run(x)
			}
			close(next)
		}()
		upstream = next
	}
	s, sum := stage{steps, z, 0}, uint64(0)
	for x := range upstream {
		sum = fold(sum, s.run(x))
	}
	return time.Since(start).Seconds(), sum
}
