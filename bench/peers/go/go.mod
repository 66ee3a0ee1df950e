module thalweg/bench/peers/go

go 1.21
