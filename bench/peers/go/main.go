// The benchmark's jobs with goroutines and buffered channels.
//
//	go calibrate
//	go chain STAGES ITEMS STEPS THREADS
//	go farm ITEMS THREADS TABLE
//	go small JOBS ITEMS THREADS TABLE
//	go owned-stages|owned-map|owned-words ITEMS THREADS
//
// Each prints the seconds of its timed region and the checksum; small prints the median time of its jobs.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

func number(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return n
}

func numbers(text string) []uint64 {
	var table []uint64
	for _, word := range strings.Split(text, ",") {
		table = append(table, number(word))
	}
	return table
}

func run(args []string) (float64, uint64) {
	switch {
	case len(args) == 1 && args[0] == "calibrate":
		return calibrate()
	case len(args) == 5 && args[0] == "chain":
		runtime.GOMAXPROCS(int(number(args[4])))
		return chain(int(number(args[1])), number(args[2]), number(args[3]))
	case len(args) == 4 && args[0] == "farm":
		threads := int(number(args[2]))
		runtime.GOMAXPROCS(threads)
		return farm(number(args[1]), threads, numbers(args[3]))
	case len(args) == 5 && args[0] == "small":
		threads := int(number(args[3]))
		runtime.GOMAXPROCS(threads)
		return small(number(args[1]), number(args[2]), threads, numbers(args[4]))
	case len(args) == 3 && strings.HasPrefix(args[0], "owned-"):
		items, threads := number(args[1]), int(number(args[2]))
		runtime.GOMAXPROCS(threads)
		switch args[0] {
		case "owned-stages":
			return ownedStages(items)
		case "owned-map":
			return ownedMap(items, threads)
		case "owned-words":
			return ownedWords(items, threads)
		}
	}
	fmt.Fprintln(os.Stderr, "usage: go calibrate | chain STAGES ITEMS STEPS THREADS | farm ITEMS THREADS TABLE | "+
		"small JOBS ITEMS THREADS TABLE | owned-stages|owned-map|owned-words ITEMS THREADS")
	os.Exit(2)
	return 0, 0
}

func main() {
	seconds, checksum := run(os.Args[1:])
	fmt.Printf("%.12f %d\n", seconds, checksum)
}
